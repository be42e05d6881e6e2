// A screen of the console: its address, the required scopes, and its place in the navigation.

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
  /** One of these is sufficient. */
  scopes: readonly Scope[]
  /** Keys that cannot use it, whatever their scopes: those restricted to jobs or devices, or to devices only. */
  closedTo?: 'restricted' | 'selectors'
  /** The entry in the navigation, in the order of the routes; `key` is the shortcut after `g`. */
  nav?: { icon: IconName; key: string; group: 'operate' | 'set up' }
}
