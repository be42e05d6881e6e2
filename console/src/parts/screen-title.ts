import { signal } from '@preact/signals'

/** What the screen is about, as in the title of the tab. Announced when another screen is opened. */
export const screenTitle = signal('')

/** How much needs a person: in the title of the tab and in the navigation. */
export const attentionCount = signal(0)
