// Parses pasted text: one deviceId per line, or several separated by commas; `#` begins a comment, as in a file for
// `jobcast trigger --devices-file`.

type Pasted = { known: string[]; unknown: string[] }

export function parsePasted(text: string): string[] {
  const names = text
    .split('\n')
    .flatMap((line) => line.replace(/#.*/, '').split(/[,;\t]/))
    .map((name) => name.trim().replaceAll(/^["']|["']$/g, ''))
  return [...new Set(names.filter((name) => name !== ''))]
}

export function sortPasted(text: string, isKnown: (deviceId: string) => boolean): Pasted {
  const { known = [], unknown = [] } = Object.groupBy(parsePasted(text), (name) =>
    isKnown(name) ? 'known' : 'unknown',
  )
  return { known, unknown }
}
