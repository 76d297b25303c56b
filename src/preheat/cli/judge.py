"""``preheat judge``: runs → evidence."""

from __future__ import annotations

from typing import Any

import click

from preheat.cli.options import ResultFile, output_options


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path())
@click.option("--baseline", type=click.Path(), help="The run to compare with (the cold one).")
@click.option("--plan", type=click.Path(), help="The plan that was warmed.")
@click.option("--warm-run", type=click.Path(), help="The warm-up's own result (warm.json).")
@click.option("--profile", type=click.Path(), help="The profile that was planned from.")
@click.option("--fail-on", metavar="EXPR", help="Exit 3 when this holds, such as 'ttft_mean_ratio<2'.")
@click.option("-o", "--output", type=ResultFile(), default="report", show_default=True, metavar="DIR")
@output_options
def judge(runs: tuple[str, ...], **flags: Any) -> int:
    """Runs → evidence.json, report.html and one table. With several RUNs, each gets a folder of its own."""
    from pathlib import Path

    from preheat.cli.show import print_json
    from preheat.files.versioned import load
    from preheat.judge.fail_on import fail_on, parse
    from preheat.judge.judge import judge as run_judge
    from preheat.judge.report_html import write_report
    from preheat.judge.report_terminal import print_report
    from preheat.records.plan import Plan
    from preheat.records.profile import Profile
    from preheat.records.run import ReplayRun, WarmRun

    if flags["fail_on"]:
        parse(flags["fail_on"])

    def given(path: str | None, kind: Any) -> Any:
        return None if path is None else load(path, kind)

    baseline, plan = given(flags["baseline"], ReplayRun), given(flags["plan"], Plan)
    warm_run, profile = given(flags["warm_run"], WarmRun), given(flags["profile"], Profile)
    kept = True
    for number, path in enumerate(runs):
        evidence = run_judge(
            cold=baseline,
            warm=load(path, ReplayRun),
            warm_run=warm_run,
            plan=plan,
            profile=profile,
            title="What warming bought" if baseline else "One replay",
        )
        if flags["fail_on"]:
            evidence = fail_on(evidence, flags["fail_on"])
        folder = Path(flags["output"]) / ("" if len(runs) == 1 else str(number + 1))
        data, page = write_report(evidence, folder)
        if flags["json"]:
            print_json(evidence)
        else:
            print_report(evidence)
            click.echo(f"report: {page}   evidence: {data}")
        kept = kept and all(evidence.promises.values())
    return 0 if kept else 3
