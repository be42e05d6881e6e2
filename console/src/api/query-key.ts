export type QueryKey = readonly unknown[]

export function startsWith(key: QueryKey, prefix: QueryKey): boolean {
  return prefix.every((part, index) => JSON.stringify(part) === JSON.stringify(key[index]))
}
