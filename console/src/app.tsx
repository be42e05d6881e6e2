// The shell: it shows the sign-in or the screens, and around the screens the navigation, the state of
// the connection and the theme.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import {
  endedBecause,
  findSelf,
  self,
  selfError,
  sessionNumber,
  sessionRefused,
  shownSelf,
} from './api/self.ts'
import { ticket } from './api/ticket.ts'
import { followWhileVisible } from './live/live-events.ts'
import { refreshAll } from './live/refresher.ts'
import { PaletteShortcut } from './palette/open-palette.tsx'
import { EmptyState } from './parts/empty-state.tsx'
import { ErrorNote } from './parts/error-note.tsx'
import { FreezeBanner } from './parts/freeze-banner.tsx'
import { KeyHelp } from './parts/key-help.tsx'
import { lazyPart } from './parts/lazy-part.tsx'
import { Navigation } from './parts/navigation.tsx'
import { PageHeader } from './parts/page-header.tsx'
import { screenTitle } from './parts/screen-title.ts'
import { useReloadWhenBack } from './reload-when-back.ts'
import type { Route, ScreenProps } from './route.ts'
import { navigate, path, screensOpened, search } from './router.ts'
import { findRoute, routes } from './routes.ts'
import { useScopes } from './scopes.ts'
import { isWall } from './wall.ts'

const signInPath = '/sign-in'

/** Loaded only without a session. */
const SignInScreen = lazyPart<{ onShown: () => void }>(() => import('./screens/sign-in.tsx'))

/** Loaded after the screen. */
const WatchAttention = lazyPart<object>(() => import('./attention/watch-attention.tsx'))

export function App() {
  useEffect(() => {
    if (ticket.value === undefined) void findSelf()
    else self.value = null
  }, [])
  if (selfError.value !== undefined) return <Unreachable />
  if (self.value === undefined) return null
  // Input of an expired session is kept until the user has signed in again.
  const isKept = self.value !== null || endedBecause.value === 'expired'
  return (
    <>
      {isKept && (
        <div class="session" hidden={self.value === null} key={sessionNumber.value}>
          <SignedIn keyId={self.value?.keyId} />
        </div>
      )}
      {self.value === null && <SignInScreen onShown={goToSignIn} />}
    </>
  )
}

/** Keeps the current or requested page for the return. */
function goToSignIn(): void {
  if (path.value === signInPath || endedBecause.value === 'expired') return
  const here = `${path.value}${location.search}`
  navigate(here === '/' ? signInPath : `${signInPath}?next=${encodeURIComponent(here)}`, 'replace')
}

function SignedIn({ keyId }: { keyId: string | undefined }) {
  const { can } = useScopes()
  useEffect(() => {
    if (keyId === undefined) return
    if (path.value === signInPath) navigate(nextPath(search.value.get('next')), 'replace')
    const life = new AbortController()
    if (can('READ')) followWhileVisible(keyId, sessionRefused, life.signal)
    refreshAll() // needed after an expired session
    return () => life.abort()
  }, [keyId])
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <div class={`shell ${isWall.value ? 'wall' : ''}`}>
        {!isWall.value && <Navigation />}
        <main id="main" tabIndex={-1}>
          <FreezeBanner />
          <Screen />
        </main>
      </div>
      <Announcement />
      <KeyHelp />
      <PaletteShortcut />
      {can('READ') && <WatchAttention />}
    </>
  )
}

/** Moves the focus to the top of a new screen, for the keyboard and screen readers. */
function Announcement() {
  const opened = screensOpened.value
  useEffect(() => {
    const main = document.getElementById('main')
    if (opened > 0 && !main?.contains(document.activeElement)) main?.focus({ preventScroll: true })
  }, [opened])
  return (
    <p class="hidden" role="status">
      {opened > 0 && screenTitle.value}
    </p>
  )
}

/** Returns only paths of this site, because the link is untrusted. */
function nextPath(next: string | null): string {
  return next?.startsWith('/') && URL.parse(next, location.origin)?.origin === location.origin ? next : '/'
}

function Screen() {
  const { mayOpen } = useScopes()
  const pathname = path.value
  const found = findRoute(pathname)
  const isAllowed = found !== undefined && mayOpen(found.route)
  const loaded = useScreen(isAllowed ? found?.route : undefined)
  useReloadWhenBack(loaded.error !== undefined)
  // A key without READ starts with the first screen that it can use.
  const first = routes.find((route) => route.nav && mayOpen(route))
  useEffect(() => {
    if (pathname === '/' && !isAllowed && first) navigate(first.path, 'replace')
  }, [pathname, isAllowed, first])
  if (found === undefined) {
    return (
      <EmptyState icon="search" title="Page not found">
        <p>
          <a href="/">Go to the fleet</a>
        </p>
      </EmptyState>
    )
  }
  if (!isAllowed) return <NotAllowed route={found.route} />
  if (loaded.error !== undefined) {
    const error = new Error('This screen could not be loaded. The page reloads when the server is back.')
    return <ErrorNote error={error} onRetry={() => location.reload()} />
  }
  if (loaded.Component === undefined) return null
  return <loaded.Component key={pathname} route={found.route} params={found.params} />
}

function NotAllowed({ route }: { route: Route }) {
  const { title, scopes } = route
  const own = shownSelf.value?.scopes ?? []
  if (useScopes().isClosed(route)) {
    return (
      <>
        <PageHeader title={title} />
        <EmptyState icon="keys" title="A restricted key cannot use this screen" />
      </>
    )
  }
  return (
    <>
      <PageHeader title={title} />
      <EmptyState icon="keys" title={`This needs a key with the ${scopes.join(' or ')} scope`}>
        <p>Yours has {own.length === 0 ? 'no scopes' : own.join(', ')}.</p>
      </EmptyState>
    </>
  )
}

type Loaded = { Component?: ComponentType<ScreenProps>; error?: unknown }
const loadedScreens = new Map<string, ComponentType<ScreenProps>>()

function useScreen(route: Route | undefined): Loaded {
  const [failed, setFailed] = useState<{ name: string; error: unknown }>()
  const [, draw] = useState<string>()
  useEffect(() => {
    if (route === undefined || loadedScreens.has(route.name)) return
    route.load().then(
      (screen) => {
        loadedScreens.set(route.name, screen.default)
        draw(route.name)
      },
      // After an upgrade of the server the old files no longer exist; the page must be reloaded.
      (error: unknown) => setFailed({ name: route.name, error }),
    )
  }, [route])
  if (route === undefined) return {}
  const Component = loadedScreens.get(route.name)
  if (Component) return { Component }
  return failed?.name === route.name ? { error: failed.error } : {}
}

function Unreachable() {
  useEffect(() => {
    const timer = setInterval(() => void findSelf(), 3000)
    return () => clearInterval(timer)
  }, [])
  return (
    <main class="alone">
      <ErrorNote error={selfError.value} onRetry={() => void findSelf()} />
    </main>
  )
}
