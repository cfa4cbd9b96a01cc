"""A build backend that lies in the tree and needs nothing from any registry: an editable wheel of the tree itself."""

import os
import zipfile

NAME = "hermes_agent"


def version():
    with open("pyproject.toml", encoding="utf-8") as file:
        return next(line.split('"')[1] for line in file if line.startswith("version = "))


def _wheel(folder, files):
    tag = "py3-none-any"
    info = "%s-%s.dist-info" % (NAME, version())
    files = dict(
        files,
        **{
            info + "/METADATA": "Metadata-Version: 2.1\nName: hermes-agent\nVersion: %s\nProvides-Extra: all\n" % version(),
            info + "/WHEEL": "Wheel-Version: 1.0\nGenerator: tree\nRoot-Is-Purelib: true\nTag: %s\n" % tag,
            info + "/entry_points.txt": "[console_scripts]\nhermes = hermes_cli.main:main\n",
        }
    )
    record = "".join("%s,,\n" % name for name in files) + info + "/RECORD,,\n"
    name = "%s-%s-%s.whl" % (NAME, version(), tag)
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(info + "/RECORD", record)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {"hermes_agent_tree.pth": os.getcwd() + "\n"})


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {"hermes_agent_tree.pth": os.getcwd() + "\n"})
