/** "2026-12-01 03:00:00 +01:00" of 2026-12-01T03:00+01:00. UTC has no offset: the title of its column names it. */
export function zonedTime(local: string): string {
  const [, day, time, seconds = ':00', zone = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?(?:Z|([+-]\d\d:\d\d))?$/.exec(local) ?? []
  return day === undefined ? local : `${day} ${time}${seconds} ${zone}`.trimEnd()
}
