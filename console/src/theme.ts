// Light, dark, or the preference of the system. The choice is an attribute of the root element, which tokens.css reads.

import { effect, signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storageKey = 'jobcast-theme'

export const theme = signal<Theme>(readTheme())

/** Whether the dark theme is shown, for canvas drawings, which CSS does not style. */
export const isDark = signal(false)

export function applyTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    document.documentElement.dataset.theme = theme.value
    isDark.value = theme.value === 'dark' || (theme.value === 'system' && system.matches)
  }
  effect(apply)
  system.addEventListener('change', apply)
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  localStorage.setItem(storageKey, chosen)
}

function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return themes.find((known) => known === stored) ?? 'system'
}
