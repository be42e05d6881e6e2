// The navigation at the side, or at the top in a narrow window.

import { signal } from '@preact/signals'
import { self, signOut } from '../api/self.ts'
import { useAction } from '../api/use-action.ts'
import { useApprovals } from '../api/use-approvals.ts'
import { openPalette } from '../palette/open-palette.tsx'
import type { Route } from '../route.ts'
import { path } from '../router.ts'
import { routes } from '../routes.ts'
import { useScopes } from '../scopes.ts'
import { chooseTheme, type Theme, theme, themes } from '../theme.ts'
import { ConnectionState } from './connection-state.tsx'
import { formatCount } from './exec-state.ts'
import { FailingWebhooks } from './failing-webhooks.tsx'
import { Icon, type IconName } from './icon.tsx'
import { isKeyHelpOpen } from './key-help.tsx'
import { OwnerSwitch } from './owner-switch.tsx'
import { attentionCount } from './screen-title.ts'
import { timeZone } from './time.ts'

const isMenuOpen = signal(false)

export function Navigation() {
  const { mayOpen } = useScopes()
  const offered = routes.filter((route) => route.nav && mayOpen(route))
  return (
    <header class={`side ${isMenuOpen.value ? 'open' : ''}`}>
      <div class="brand">
        <a href="/" class="brand-name">
          <Mark />
          Jobcast
        </a>
        <ConnectionState />
        <FailingWebhooks />
        <button
          type="button"
          class="ghost menu-button"
          aria-expanded={isMenuOpen.value}
          aria-controls="menu"
          aria-label="Menu"
          onClick={() => {
            isMenuOpen.value = !isMenuOpen.value
          }}
        >
          <Icon name={isMenuOpen.value ? 'close' : 'menu'} />
        </button>
      </div>
      <div id="menu" class="menu">
        <OwnerSwitch />
        <button type="button" class="ghost find" onClick={openPalette}>
          <Icon name="search" />
          Search
          <span class="nav-keys" data-keys="Ctrl K" />
        </button>
        <nav aria-label="Screens">
          {(['operate', 'set up'] as const).map((group) => (
            <ul key={group}>
              {offered
                .filter(({ nav }) => nav?.group === group)
                .map((route) => (
                  <NavLink key={route.name} route={route} />
                ))}
            </ul>
          ))}
        </nav>
        <Foot />
      </div>
    </header>
  )
}

function NavLink({ route: { path: href, title, nav } }: { route: Route }) {
  const isHere = href === '/' ? path.value === '/' : `${path.value}/`.startsWith(`${href}/`)
  return (
    <li>
      <a
        href={href}
        aria-current={isHere ? 'page' : undefined}
        onClick={() => {
          isMenuOpen.value = false
        }}
      >
        {nav && <Icon name={nav.icon} />}
        {title}
        {href === '/approvals' && <ApprovalCount />}
        {href === '/' && <AttentionCount />}
        {nav && <span class="nav-keys" data-keys={`g ${nav.key}`} />}
      </a>
    </li>
  )
}

/** The number of runs that this key may approve. */
function ApprovalCount() {
  const count = useApprovals().runs?.length ?? 0
  return count === 0 ? null : <span class="nav-count">{formatCount(count)}</span>
}

function AttentionCount() {
  const count = attentionCount.value
  return count === 0 ? null : <span class="nav-count">{formatCount(count)}</span>
}

const themeIcons: Record<Theme, IconName> = { system: 'system', light: 'sun', dark: 'moon' }

function Foot() {
  const leave = useAction(signOut)
  return (
    <div class="foot">
      <fieldset class="segments">
        <legend class="hidden">Theme</legend>
        {themes.map((name) => (
          <label key={name} title={`${name} theme`}>
            <input
              type="radio"
              name="theme"
              checked={theme.value === name}
              onChange={() => chooseTheme(name)}
              aria-label={`${name} theme`}
            />
            <Icon name={themeIcons[name]} />
          </label>
        ))}
      </fieldset>
      <button
        type="button"
        class="ghost"
        title="Shortcuts (?)"
        aria-label="Shortcuts"
        onClick={() => {
          isKeyHelpOpen.value = true
        }}
      >
        <Icon name="keyboard" />
      </button>
      <a class="docs-link" href="/docs">
        API docs
      </a>
      <p class="version">
        <span>Jobcast {import.meta.env.JOBCAST_VERSION}</span>
        <span>Times in {timeZone}</span>
      </p>
      <div class="who">
        <span title={self.value?.scopes.join(', ')}>{self.value?.name}</span>
        <button type="button" class="ghost" onClick={() => leave.run()} disabled={leave.isRunning}>
          <Icon name="out" />
          Sign out
        </button>
      </div>
    </div>
  )
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M9.500 16a6.500 6.500 0 0 1 6.500-6.500M16 22.500a6.500 6.500 0 0 0 6.500-6.500" />
      <path class="far" d="M5.500 16A10.500 10.500 0 0 1 16 5.500M16 26.500A10.500 10.500 0 0 0 26.500 16" />
      <circle cx="16" cy="16" r="3" />
    </svg>
  )
}
