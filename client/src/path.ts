// Names in a path. `path`/job/api/jobs/${jobName}`` encodes what is put in.

export function path(parts: TemplateStringsArray, ...names: (string | number)[]): string {
  return parts.reduce((whole, part, index) => `${whole}${segment(names[index - 1])}${part}`)
}

/** Nothing has an empty name, and a URL would resolve dots away: the call would go to another route. */
function segment(name: string | number | undefined): string {
  const text = String(name ?? '')
  if (text === '' || text === '.' || text === '..') throw new TypeError(`"${text}" is not a name`)
  return encodeURIComponent(text)
}

/** What is undefined is left out. */
export function queryText(query: object): string {
  const given = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) given.append(key, String(value))
  }
  return given.size === 0 ? '' : `?${given}`
}
