// A screen of the console: its address, who may see it and where it stands in the navigation.

import type { ComponentType } from 'preact'
import type { Params } from './match-path.ts'
import type { IconName } from './parts/icon.tsx'
import type { Scope } from './scopes.ts'

type Screen = { default: ComponentType<ScreenProps> }

export type ScreenProps = { route: Route; params: Params }

export type Route = {
  name: string
  path: string
  title: string
  load: () => Promise<Screen>
  /** One of them is enough. */
  scopes: readonly Scope[]
  /** In the navigation, in this order; `key` is what is pressed after `g`. */
  nav?: { icon: IconName; key: string; group: 'operate' | 'set up' }
}
