// The shell: who is signed in decides between the sign-in and the screens; around those the navigation, the state of
// the connection and the theme.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { findSelf, self, selfError } from './api/self.ts'
import { followEvents } from './live/live-events.ts'
import { EmptyState } from './parts/empty-state.tsx'
import { ErrorNote } from './parts/error-note.tsx'
import { KeyHelp } from './parts/key-help.tsx'
import { Navigation } from './parts/navigation.tsx'
import { navigate, path, search } from './router.ts'
import { findRoute, type Route, type ScreenProps } from './routes.ts'
import { SignInScreen, ticket } from './screens/sign-in.tsx'

const signInPath = '/sign-in'

export function App() {
  useEffect(() => {
    if (ticket.value === undefined) void findSelf()
    else self.value = null
  }, [])
  if (selfError.value !== undefined) return <Unreachable />
  if (self.value === undefined) return null
  if (self.value === null) return <SignInScreen onShown={goToSignIn} />
  return <SignedIn />
}

/** Keeps where the person was, or wanted to go. */
function goToSignIn(): void {
  if (path.value === signInPath) return
  const here = `${path.value}${location.search}`
  navigate(here === '/' ? signInPath : `${signInPath}?next=${encodeURIComponent(here)}`, 'replace')
}

function SignedIn() {
  useEffect(() => {
    if (path.value === signInPath) navigate(nextPath(search.value.get('next')), 'replace')
    const life = new AbortController()
    void followEvents(life.signal)
    return () => life.abort()
  }, [])
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      <div class="shell">
        <Navigation />
        <main id="main" tabIndex={-1}>
          <Screen />
        </main>
      </div>
      <KeyHelp />
    </>
  )
}

/** Only to a page of ours: whoever made the link is not to be trusted. */
function nextPath(next: string | null): string {
  return next?.startsWith('/') && URL.parse(next, location.origin)?.origin === location.origin ? next : '/'
}

function Screen() {
  const found = findRoute(path.value)
  const loaded = useScreen(found?.route)
  if (found === undefined) {
    return (
      <EmptyState icon="search" title="There is no such page">
        <p>
          <a href="/">Go to the fleet</a>
        </p>
      </EmptyState>
    )
  }
  if (loaded.error !== undefined) return <ErrorNote error={loaded.error} onRetry={() => location.reload()} />
  if (loaded.Component === undefined) return null
  return <loaded.Component key={path.value} params={found.params} />
}

type Loaded = { Component?: ComponentType<ScreenProps>; error?: unknown }
const known = new Map<string, ComponentType<ScreenProps>>()

function useScreen(route: Route | undefined): Loaded {
  const [failed, setFailed] = useState<{ name: string; error: unknown }>()
  const [, draw] = useState<string>()
  useEffect(() => {
    if (route === undefined || known.has(route.name)) return
    route.load().then(
      (screen) => {
        known.set(route.name, screen.default)
        draw(route.name)
      },
      // After an update of the server the old parts are gone; the page must be loaded anew.
      (error: unknown) => setFailed({ name: route.name, error }),
    )
  }, [route])
  if (route === undefined) return {}
  const Component = known.get(route.name)
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
