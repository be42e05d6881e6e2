// Whether the window is as narrow as that of a phone, which is also where the styles change.

import { signal } from '@preact/signals'

const narrow = matchMedia('(max-width: 760px)')

export const isNarrow = signal(narrow.matches)

narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})
