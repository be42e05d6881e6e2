// The OpenID Connect issuer for people, if there is one.

let asked: Promise<boolean> | undefined

/** Whether people can sign in at an issuer. Requested once. */
export function hasIssuer(): Promise<boolean> {
  asked ??= fetch('/auth/config')
    .then(async (answer) => answer.ok && ((await answer.json()) as { oidc: boolean }).oidc)
    .catch(() => {
      asked = undefined
      return false
    })
  return asked
}

/** A link to the issuer that returns to this page. `owner`: the name of the owner to act for. */
export function signInHref(returnTo: string, owner?: string): string {
  const query = new URLSearchParams({ returnTo, ...(owner !== undefined && { owner }) })
  return `/auth/sign-in?${query}`
}

/** Ends the session here; returns the address for ending the session at the issuer, if there is one. */
export async function signOutEverywhere(): Promise<string | undefined> {
  const answer = await fetch('/auth/sign-out', { method: 'POST' })
  if (!answer.ok) throw new Error(`Sign-out failed (${answer.status})`)
  return ((await answer.json()) as { signOutUrl: string | null }).signOutUrl ?? undefined
}
