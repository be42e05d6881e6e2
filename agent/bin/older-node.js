// What published packages use and Node 20 does not have: Node 22 and newer change nothing here.

Promise.withResolvers ??= function withResolvers() {
  let settle
  const promise = new this((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...settle }
}

URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null)

Map.groupBy ??= (items, keyOf) => {
  const groups = new Map()
  let index = 0
  for (const item of items) {
    const key = keyOf(item, index++)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
