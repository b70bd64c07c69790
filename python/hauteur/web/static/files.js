// Files that a page saves, { name, text }, and files that it reads.

export function save({ name, text }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The text of a file: SGF by the encoding that its property CA names, as crates/lab/src/decode.rs decodes it, else UTF-8, else
// Latin-1, which older programs write.
export async function textOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 2 ** 14));
  const named = /\.sgf$/i.test(file.name) && /(?:^|[^A-Z])CA\s*\[([^\]]*)\]/.exec(head);
  for (const label of named ? [named[1].trim(), "utf-8"] : ["utf-8"]) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch { /* an unknown name, or not in this encoding: the next one */ }
  }
  return new TextDecoder("latin1").decode(bytes);
}
