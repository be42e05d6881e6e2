// Wall mode: only the fleet, in large type, for a display without input. It is part of the address, so that the display can open
// it directly.

import { computed } from '@preact/signals'
import { path, search, setSearch } from './router.ts'

export const isWall = computed(() => path.value === '/' && search.value.has('wall'))

export function enterWall(): void {
  setSearch({ wall: 'on' })
  document.documentElement.requestFullscreen?.().catch(() => undefined) // full screen is optional
}

export function leaveWall(): void {
  setSearch({ wall: undefined })
  if (document.fullscreenElement) void document.exitFullscreen()
}
