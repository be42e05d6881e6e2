// The zones for which a window is open, as text that SQL can search: |Europe/Berlin|UTC|. A window in a fixed zone is open
// for all devices, |*|, or for none.

const everywhere = '*'

export function writeOpenZones(zones: readonly string[]): string {
  return zones.length === 0 ? '' : `|${zones.toSorted().join('|')}|`
}

export const openEverywhere = writeOpenZones([everywhere])

export function isOpenIn(openZones: string, zone: string): boolean {
  return openZones.includes(openEverywhere) || openZones.includes(`|${zone}|`)
}

/** Zones that are open now and were not before; undefined: all zones. */
export function newlyOpen(now: string, before: string): string[] | undefined {
  if (before === openEverywhere) return []
  if (now === openEverywhere) return undefined
  const known = new Set(before.split('|'))
  return now.split('|').filter((zone) => zone !== '' && !known.has(zone))
}
