import { userInfo } from 'node:os'

/** Of the user that the agent runs as. A container may run it as a number that has no name: then the number. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
