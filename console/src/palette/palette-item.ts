export type PaletteItem = {
  name: string
  kind: string
  href: string
  /** Shown next to the name, and also searched. */
  about?: string | undefined
  /** Runs before the navigation. */
  work?: () => Promise<unknown>
}
