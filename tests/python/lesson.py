"""Runs the examples of docs/12_python.md, with the package that is installed."""
import doctest
import pathlib
import sys

LESSON = pathlib.Path(__file__).resolve().parents[2] / "docs/12_python.md"


def main():
    text = LESSON.read_text()
    blocks = [block.split("```")[0] for block in text.split("```pycon\n")[1:]]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, LESSON.name, str(LESSON), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    print(f"{runner.tries} examples, {runner.failures} failed")
    assert runner.tries > 5
    sys.exit(runner.failures > 0)


if __name__ == "__main__":
    main()
