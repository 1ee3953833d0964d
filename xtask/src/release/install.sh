#!/bin/sh
# Installs the sterna command for Linux on x86-64 into ~/.local/bin:
#   curl -fsSL https://github.com/sterna-mcp/sterna/releases/latest/download/install.sh | sh
# STERNA_BIN names another folder.
set -eu

version="@VERSION@"
releases="${STERNA_RELEASES:-https://github.com/sterna-mcp/sterna/releases/download}"
folder="${STERNA_BIN:-$HOME/.local/bin}"

fail() {
    echo "sterna is not installed: $1" >&2
    exit 1
}

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64 | Linux-amd64) target=x86_64-unknown-linux-musl ;;
    *) fail "there is no binary for $(uname -s) on $(uname -m); try \`cargo install sterna-cli\`" ;;
esac
for tool in curl tar sha256sum; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
done

name="sterna-$version-$target"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
for file in "$name.tar.gz" SHA256SUMS; do
    curl --fail --silent --show-error --location --output "$place/$file" \
        "$releases/v$version/$file" || fail "$file cannot be fetched"
done
cd "$place"
grep " $name.tar.gz\$" SHA256SUMS | sha256sum -c >/dev/null 2>&1 ||
    fail "the checksum of $name.tar.gz is wrong"
tar -xzf "$name.tar.gz"
mkdir -p "$folder"
# A rename: a command that is running goes on as it is.
cp "$name/sterna" "$folder/.sterna.new"
mv "$folder/.sterna.new" "$folder/sterna"
echo "$folder/sterna installed"
case ":$PATH:" in
    *":$folder:"*) ;;
    *) echo "add $folder to your PATH" ;;
esac
