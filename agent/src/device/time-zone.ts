// The time zone of this machine. Intl knows it too, but loads 8 MB of locale data to tell.

import { readFileSync, readlinkSync } from 'node:fs'

const name = /^[A-Za-z]\w*(?:[/+-]\w+){0,4}$/
/** A name, not rules such as CET-1CEST. */
const namedZone = /^:?((?:\w+\/[\w/+-]+)|UTC|GMT)$/

type ZoneSources = { tz: string | undefined; link: string; file: string }

const ofSystem = { link: '/etc/localtime', file: '/etc/timezone' }

export function timeZone({ tz, link, file }: ZoneSources = { tz: process.env.TZ, ...ofSystem }): string {
  const found = tz ? namedZone.exec(tz)?.[1] : (fromLink(link) ?? fromFile(file))
  if (found === undefined || found.length > 64 || !name.test(found)) return byIntl()
  return /^(?:Etc\/)?(?:UTC|UCT|Zulu|Universal)$/.test(found) ? 'UTC' : found
}

/** The link leads to `…/zoneinfo/Europe/Berlin`; without one the zone is UTC. */
function fromLink(path: string): string | undefined {
  try {
    return /\/zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(readlinkSync(path))?.[1]
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'UTC' : undefined
  }
}

function fromFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

function byIntl(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}
