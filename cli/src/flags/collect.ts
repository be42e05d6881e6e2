// Flags that can be repeated.

export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text]
}
