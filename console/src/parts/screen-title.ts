import { signal } from '@preact/signals'

/** The title of the screen and the tab. Announced when another screen is opened. */
export const screenTitle = signal('')

/** The number of items that need attention, shown in the title of the tab and in the navigation. */
export const attentionCount = signal(0)
