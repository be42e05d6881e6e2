import { signal } from '@preact/signals'

/** What the screen is about, as in the title of the tab. Announced when another screen is opened. */
export const screenTitle = signal('')
