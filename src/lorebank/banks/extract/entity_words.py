"""Word lists that entity rules need: what begins a sentence without being a name, and what tells a type."""

from __future__ import annotations

from lorebank.banks.extract.chatter_words import ENGLISH_SMALL_WORDS
from lorebank.dates.words import word_set

# Capitalised because they begin a sentence, or always, without naming anything.
NOT_NAMES = ENGLISH_SMALL_WORDS | word_set(
    "although though since because while after before during despite however moreover furthermore",
    "therefore thus hence meanwhile instead otherwise besides finally first second third firstly secondly",
    "lastly then once twice maybe perhaps probably possibly usually often sometimes rarely recently",
    "lately currently yesterday soon eventually suddenly apparently obviously clearly fortunately",
    "unfortunately hopefully surely whenever wherever whatever whoever whether every each either neither",
    "both several few another other others many none nobody someone somebody anyone anybody everyone",
    "everything something nothing people person kids children family friends parents mom mum dad mother",
    "father brother sister wife husband daughter son boss colleague team company customer customers users",
    "user assistant system human agent tool bot we'll they'll she'll he'll he's she's they're who's",
    "where's when's here's ours theirs hers his her him remember imagine consider note notice please use",
    "using used add added fix fixed make making take taking give giving go going come coming try trying",
    "start starting stop run running call calling work working play playing read reading write writing",
    "learn learning teach teaching watch watching listen eat eating cook cooking drink paint painting",
    "draw build building buy buying sell selling live living move moving travel traveling visit visiting",
    "check checking set setting open close turn put show send ask asking dinner breakfast food dog cat",
    "music art life love work job school house home car money health world monday tuesday wednesday",
    "thursday friday saturday sunday january february march april may june july august september october",
    "november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun",
    "spring summer autumn winter christmas easter am pm utc gmt tv pc id ok faq pdf ceo cto etc usa-wide",
    "todo fyi asap btw imo idk lgtm wip eta montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "januar februar märz mai juni juli oktober dezember wenn weil dass aber dann deshalb trotzdem jetzt",
    "gestern heute morgen seit nach vor bei unser unsere meine deine ihre seine diese dieser dieses jede",
    "jeder alle einige man kein keine pazartesi salı çarşamba perşembe cuma cumartesi pazar ocak şubat",
    "mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık ama çünkü sonra önce bugün dün yarın",
    "her hiç",
)
# Lower-case words that may stand inside a name.
LINKS = word_set(
    "of the de del la le van von der den di da du do dos bin ibn al el und",
)
TITLES = word_set(
    "mr mrs ms miss dr prof professor sir lady herr frau señor señora uncle aunt grandma grandpa",
)
ORG_ENDINGS = word_set(
    "inc corp ltd llc gmbh ag plc co corporation company foundation university institute bank agency",
    "association society college hospital museum studio studios labs group holdings airlines ministry",
    "council committee club school",
)
PLACE_ENDINGS = word_set(
    "street road avenue lake river mountain mountains park island islands beach valley city county bay",
    "square bridge airport station",
)
# Verbs whose subject is a person, and the words between which a place stands.
PERSON_VERBS = word_set(
    "says said asks asked tells told thinks thought likes liked loves loved hates hated prefers preferred",
    "wants wanted needs needed lives lived works worked studies studied plays played knows knew believes",
    "feels felt hopes plans planned decided married met bought enjoys enjoyed owns moved joined left",
    "visited deployed reviewed approved wrote built created fixed suggested mentioned reported agreed",
    "called helped started finished teaches taught",
)
PLACE_BEFORE = frozenset(
    (
        "lives in",
        "lived in",
        "living in",
        "live in",
        "moved to",
        "moving to",
        "move to",
        "born in",
        "grew up in",
        "travelled to",
        "traveled to",
        "travel to",
        "trip to",
        "flew to",
        "flying to",
        "based in",
        "city of",
        "visited",
        "visiting",
        "went to",
        "come from",
        "came from",
        "office in",
        "vacation in",
        "holiday in",
        "stayed in",
        "arrived in",
    )
)
VERB_AFTER = word_set(
    "is was has had will would can could should and isn't wasn't hasn't won't",
)
