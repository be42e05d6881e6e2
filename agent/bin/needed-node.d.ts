/** `commands`: the command line. `sqlite`: whatever opens an embedded database. */
export type Part = 'commands' | 'sqlite'

export function neededNode(part: Part, version?: string): string | undefined
