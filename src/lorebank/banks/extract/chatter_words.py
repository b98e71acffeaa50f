"""Words and phrases that say nothing worth keeping, in the languages the extractor reads.

The core words of a language are chatter by themselves, its fillers may stand among them. A text that holds
any other word is never chatter. Languages without spaces between words have patterns that must cover the
whole text instead.
"""

from __future__ import annotations

import re

from lorebank.dates.words import alternatives, word_set

_EVERYWHERE = word_set(
    "hi hey hello ok okay k sorry super bye ciao haha hahaha hahah hehe heh lol xd wow oh ah aha hm hmm"
)
_ENGLISH_CORE = _EVERYWHERE | word_set(
    "heya hiya howdy yo greetings welcome morning afternoon evening night goodnight",
    "thanks thank thx ty tysm cheers appreciate appreciated please pls apologies pardon excuse",
    "okey kk yes yep yeah yup yess aye ya sure no nope nah alright right fine great good nice cool awesome",
    "amazing wonderful fantastic excellent perfect sweet lovely brilliant neat whoa woah yay ooh ha",
    "lmao rofl omg hmmm huh uh um uhm mm mhm meh phew oops ouch aw aww goodbye byebye cya later ttyl see",
    "take care",
    "luck congrats congratulations problem worries absolutely definitely exactly totally indeed agreed",
    "true certainly",
    "brb gtg pleasure course fair hilarious fingers crossed dreams job tgif complain mention rush maybe",
    "understood noted gotcha roger copy deal done really seriously interesting impressive glad nvm test",
    "testing ping",
)
_ENGLISH_FILLER = word_set(
    "i i'm im i've i'd i'll me my mine myself you you're youre you've you'd you'll your yours yourself",
    "yourselves u ur",
    "he she it it's its we we're we've us our they them their this that that's thats these those there",
    "here there's",
    "what what's whats who how how's hows when where why which a an the and or but so too also as if then",
    "than to of",
    "in on at for with from about by up out off over am is are was were be been being do does did don't",
    "dont didn't",
    "doesn't have has had having can can't cannot could would should will won't shall may might must not",
    "just very much",
    "many more most such all any some now again still well else one ones thing things lot lots bit kind",
    "way part new",
    "going go gonna goin' doing doin' hear heard hearing say said tell know knowing think thinking guess",
    "believe mean",
    "means sound sounds looks look feel get got getting let's lets let keep make makes made sense happy",
    "hope hoping wish",
    "excited talk talking chat chatting speak catch catching meet meeting everyone everybody guys folks",
    "friend mate",
    "buddy pal man dude bro today tonight tomorrow soon time times day days weekend week long ago back",
    "anytime always",
    "ever never forever already yet anyway anyways help helping need anything something everything",
    "nothing remember",
    "sunny weather outside same rest sleep slept busy tired old bad worse better best enough fun ready",
    "remind mind",
    "question questions answer happening happened happens hang moment minute second sec wait hold first",
    "last next",
    "proud support supportive kindness kind kindly honestly actually basically literally pretty quite",
    "rather though",
    "idea point plan stuff word words nice-looking feeling because cause 'cause cuz until till while into",
    "coffee lunch",
    "enjoy enjoyed enjoying safe home continue share sharing shared joke funny laugh laughing kidding",
    "joking beautiful",
    "haven't hadn't wouldn't couldn't shouldn't aren't weren't isn't wasn't ain't hasn't gotta kinda wanna",
    "relaxing chilling plans anyone knows been cannot tgif repeat",
    "gorgeous cold warm hot rain raining rainy nicely asking wondering around other another only even",
    "every each without",
)
_GERMAN_CORE = _EVERYWHERE | word_set(
    "hallo moin servus tag guten gute morgen abend nacht danke dankeschön vielen dank bitte gern gerne ja",
    "nein doch",
    "genau klar toll prima schön wunderbar perfekt alles gut tschüss tschüß bis bald später lg",
    "entschuldigung ach stimmt freut",
)
_GERMAN_FILLER = word_set(
    "ich du er sie es wir ihr mir mich dir dich uns euch ihnen mein dein sein das der die den dem des ein",
    "eine einen",
    "und oder aber auch so wie was wer wo wann warum ist bist bin sind seid war waren habe hast hat haben",
    "geht geht's",
    "gehts läuft macht mach mache noch mal dann da hier sehr viel schon nur nicht nichts für zu zum zur",
    "mit von im in an",
    "am auf wochenende woche wünsche ebenfalls gleichfalls sehen hören heute bald wieder freue",
)
_TURKISH_CORE = _EVERYWHERE | word_set(
    "merhaba selam selamlar günaydın akşamlar geceler iyi teşekkürler teşekkür sağol sağolun eyvallah",
    "rica lütfen",
    "evet hayır tamam tamamdır peki olur harika süper güzel görüşürüz hoşça kal kolay gelsin aynen tabii",
    "elbette",
)
_TURKISH_FILLER = word_set(
    "ben sen o biz siz bana sana bir bu şu ne nasıl nasılsın nasılsınız var yok da de ve ama için çok mi",
    "mı mu mü musun",
    "misin iyiyim iyidir ederim ederiz günler haftalar hafta sonu olsun senin benim gün sabahlar sonra",
    "kendine bak",
)
_ARABIC_CORE = word_set(
    "مرحبا مرحباً أهلا أهلاً اهلا وسهلا السلام عليكم وعليكم شكرا شكراً جزيلا جزيلاً عفوا عفواً نعم لا",
    "حسنا حسناً تمام",
    "صباح مساء الخير النور وداعا وداعاً رائع جميل ممتاز جيد بالتوفيق أكيد طبعا",
)
_ARABIC_FILLER = word_set(
    "أنا انا أنت انت أنتم هو هي نحن هذا هذه ذلك ما ماذا كيف حالك الحال هل في من على إلى و يا كل شيء بخير",
    "الحمد لله",
    "لك جدا جداً ليلة سعيدة طيبة نهارك سعيد إلى اللقاء أراك لاحقا لاحقاً غدا مع السلامة يومك اليوم",
)
# One pair a language: all words of a text must belong to the same one.
LANGUAGES = (
    (_ENGLISH_CORE, _ENGLISH_CORE | _ENGLISH_FILLER),
    (_GERMAN_CORE, _GERMAN_CORE | _GERMAN_FILLER),
    (_TURKISH_CORE, _TURKISH_CORE | _TURKISH_FILLER),
    (_ARABIC_CORE, _ARABIC_CORE | _ARABIC_FILLER),
)
# English words that begin sentences or fill descriptions without naming anything.
ENGLISH_SMALL_WORDS = _ENGLISH_CORE | _ENGLISH_FILLER
# A bare answer or pronoun: worth keeping only together with its question.
BARE_ANSWERS = word_set(
    "yes yep yeah yup no nope nah sure maybe perhaps probably definitely absolutely me him her them us it",
    "this that both",
    "neither none all some always never often sometimes ja nein vielleicht evet hayır belki نعم لا ربما",
)

# Phrases of languages without spaces between words, and of Korean, all written without spaces and marks.
_PHRASES = word_set(
    # Chinese
    "你好 您好 大家好 早上好 早安 下午好 晚上好 晚安 早 嗨 嘿 哈喽 谢谢 多谢 谢啦 感谢 不客气 不用谢",
    "没关系 没事 好 好的 好吧 好啊",
    "好呀 行 可以 嗯 哦 噢 啊 哈 呵 是 是的 对 对的 不是 当然 没问题 明白 明白了 知道了 收到 再见 拜拜",
    "回头见 明天见 加油 太好了",
    "太棒了 真棒 真好 真的 真的吗 真不错 不错 厉害 恭喜 辛苦了 你呢 你怎么样 最近怎么样 你好吗 我很好",
    "还好 还行 吗 呢 吧 了 呀",
    "啦 你 您 们 謝謝 沒問題 沒關係 再見",
    # Japanese
    "こんにちは こんばんは おはようございます おはよう おやすみなさい おやすみ ありがとうございます",
    "ありがとうございました",
    "ありがとう どうもありがとう どうも どういたしまして すみません ごめんなさい ごめん お疲れ様です",
    "お疲れ様でした お疲れ様",
    "はい いいえ うん ううん ええ へえ そうです そうですね そうですか そうだね そうか そう なるほど",
    "わかりました わかった 了解です",
    "了解しました 了解 承知しました いいですね いいね すごいですね すごい よかったです よかった",
    "楽しみです さようなら またね",
    "また明日 じゃあね 元気ですか お元気ですか 元気です 笑 w です ですね ね よ",
    # Korean
    "안녕하세요 안녕히계세요 안녕히가세요 안녕 반가워요 반갑습니다 좋은아침 좋은아침이에요 잘자 잘자요",
    "감사합니다 감사해요",
    "고마워요 고맙습니다 고마워 천만에요 죄송합니다 미안해요 미안 네 예 응 아니요 아니 알겠습니다",
    "알겠어요 알았어 알았어요 좋아",
    "좋아요 좋네 좋네요 그래 그래요 그렇군요 그렇네요 맞아 맞아요 정말 정말요 진짜 진짜요 대박 와 ㅋ ㅎ",
    "ㅠ ㅜ 하하 헤헤",
    "수고하세요 수고하셨습니다 잘가 잘가요 또봐 또봐요 내일봐 내일봐요 잘지내 잘지내세요 잘지내요",
    "잘지내니 어떻게지내세요 오케이",
    # Thai
    "สวัสดี สวัสดีครับ สวัสดีค่ะ หวัดดี ขอบคุณ ขอบคุณมาก ขอบใจ ไม่เป็นไร ยินดี ขอโทษ ครับ ค่ะ คะ ใช่",
    "ไม่ใช่ โอเค ตกลง ได้ ดี",
    "ดีมาก เยี่ยม เยี่ยมมาก เยี่ยมเลย สุดยอด จริงเหรอ จริงหรอ อืม อ๋อ ว้าว 555 5555 ลาก่อน บาย แล้วเจอกัน",
    "ราตรีสวัสดิ์ ฝันดี",
    "สบายดีไหม สบายดี เป็นยังไงบ้าง แล้วคุณล่ะ จ้า จ้ะ นะ มาก เลย เข้าใจแล้ว",
)
# Atomic and possessive: each phrase is taken once, so that no text makes the search try combinations.
ONLY_PHRASES = re.compile(f"(?>{alternatives(_PHRASES)})++")
