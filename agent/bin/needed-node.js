// Which Node Jobcast needs. Plain JavaScript, because a Node that is too old reads it as well.

/** The first version of each release line that will do. Later lines will do as well. */
const firstNodes = {
  /** Has `crc32` of zlib and `styleText`. */
  commands: ['20.15.0', '22.2.0'],
  /** Does not print that SQLite is experimental. */
  sqlite: ['24.15.0', '25.7.0'],
}

/** The version to install instead of this one; undefined if this one will do. */
export function neededNode(part, version = process.versions.node) {
  const [major, minor] = numbersOf(version)
  const first = firstNodes[part].find((each) => numbersOf(each)[0] >= major)
  if (first === undefined) return undefined
  const [firstMajor, firstMinor] = numbersOf(first)
  return major === firstMajor && minor >= firstMinor ? undefined : first
}

function numbersOf(version) {
  return version.split('.').map(Number)
}
