"""package.py [OUT.vsix] - the extension of this folder as a file that VS Code installs (`code --install-extension`).

A .vsix is a zip archive with a manifest; nothing of npm's is needed to make one.
"""
import json
import os
import sys
import zipfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
FILES = ["package.json", "README.md", "extension.js", "client.js", "fsc.tmLanguage.json", "language-configuration.json"]
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="text/javascript"/>
<Default Extension=".md" ContentType="text/markdown"/><Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="%(name)s" Version="%(version)s" Publisher="%(publisher)s"/>
<DisplayName>%(displayName)s</DisplayName>
<Description xml:space="preserve">%(description)s</Description>
<Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="%(engine)s"/></Properties>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
</Assets>
</PackageManifest>
"""


def main():
    with open(os.path.join(FOLDER, "package.json"), encoding="utf-8") as file:
        package = json.load(file)
    out = sys.argv[1] if len(sys.argv) > 1 else "%s-%s.vsix" % (package["name"], package["version"])
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("extension.vsixmanifest", MANIFEST % dict(package, engine=package["engines"]["vscode"]))
        for name in FILES:
            archive.write(os.path.join(FOLDER, name), "extension/" + name)
    print(out)


main()
