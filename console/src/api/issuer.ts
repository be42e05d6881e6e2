// The issuer that people sign in at, if there is one.

let asked: Promise<boolean> | undefined

/** Whether people can sign in at an issuer. Asked once. */
export function hasIssuer(): Promise<boolean> {
  asked ??= fetch('/auth/config')
    .then(async (answer) => answer.ok && ((await answer.json()) as { oidc: boolean }).oidc)
    .catch(() => {
      asked = undefined
      return false
    })
  return asked
}

/** Leads to the issuer and back. `owner`: the name of the one to act for. */
export function signInHref(returnTo: string, owner?: string): string {
  const query = new URLSearchParams({ returnTo, ...(owner !== undefined && { owner }) })
  return `/auth/sign-in?${query}`
}

/** Ends the session here; where to end that at the issuer, if it has a page for that. */
export async function signOutEverywhere(): Promise<string | undefined> {
  const answer = await fetch('/auth/sign-out', { method: 'POST' })
  if (!answer.ok) throw new Error(`Sign-out failed (${answer.status})`)
  return ((await answer.json()) as { signOutUrl: string | null }).signOutUrl ?? undefined
}
