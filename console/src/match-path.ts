// Does not use browser APIs, so that tests and scripts can read the table of screens.

export type Params = Record<string, string>

/** The values of the `:name` parts; undefined if the path does not match. */
export function matchPath(pattern: string, pathname: string): Params | undefined {
  const [wanted, given] = [pattern.split('/'), pathname.split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Params = {}
  for (const [index, part] of wanted.entries()) {
    const text = given[index] as string
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(text)
    else if (part !== text) return undefined
  }
  return params
}
