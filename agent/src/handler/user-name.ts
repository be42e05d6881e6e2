import { userInfo } from 'node:os'

/** The user that the agent runs as. In a container the user may have no name: then its number. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
