// Flags that may be given several times.

export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text]
}

/** Also several at once, with commas: for words that hold none. */
export function collectWords(text: string, before: string[] | undefined): string[] {
  const words = text.split(',').map((word) => word.trim())
  return [...(before ?? []), ...words.filter((word) => word !== '')]
}
