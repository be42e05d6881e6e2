/** "2026-12-01 03:00:00 +01:00" for 2026-12-01T03:00+01:00. UTC is shown without an offset: the column's title names it. */
export function zonedTime(local: string): string {
  const [, day, time, seconds = ':00', zone = ''] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?(?:Z|([+-]\d\d:\d\d))?$/.exec(local) ?? []
  return day === undefined ? local : `${day} ${time}${seconds} ${zone}`.trimEnd()
}
