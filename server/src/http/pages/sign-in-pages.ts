// The pages shown when a sign-in at the issuer does not lead to the console.

import type { ApiError } from '@jobcast/contract'
import type { FastifyReply } from 'fastify'
import type { Person } from '../../domain/access/claims.ts'
import type { OwnerGrant } from '../../domain/access/person-session.ts'
import type { GroupRoles } from '../../domain/access/roles.ts'
import { rateLimitHeaders } from '../../limits/rate-limit-headers.ts'
import { type Link, sendSignInPage } from './sign-in-page.ts'

const again: Link = { href: '/auth/sign-in?again=1', text: 'Sign in as somebody else' }
const retry: Link = { href: '/auth/sign-in', text: 'Sign in again' }
const byKey: Link = { href: '/sign-in', text: 'Sign in with an API key' }

const tooMany =
  'The issuer has left out your groups, because you are in too many. Ask your administrator to configure the issuer to send ' +
  'only the groups that are assigned to this application.'

export function sendNoRole(
  reply: FastifyReply,
  person: Person,
  { groupRoles, missing, isOverage }: { groupRoles: GroupRoles; missing: string[]; isOverage: boolean },
): FastifyReply {
  const groups = Array.from(groupRoles, ([group, grants]) => {
    const does = grants.map(({ owner, role }) => `${role} at ${owner}`)
    return `${group} (${does.join(', ')})`
  })
  const wrong = `The settings name an owner that does not exist: ${missing.join(', ')}. Tell your administrator.`
  return sendSignInPage(reply, {
    status: 403,
    title: 'No access yet',
    text: [
      `You are signed in as ${shownPerson(person)}, but you have no role here.`,
      ...(missing.length > 0 ? [wrong] : []),
      ...(isOverage ? [tooMany] : []),
      'Ask your administrator to add you to one of these groups:',
    ],
    items: groups,
    links: [retry, again, byKey],
  })
}

/** The person selects an owner and is redirected to the issuer again, where the session usually still exists. */
export function sendOwners(
  reply: FastifyReply,
  person: Person,
  grants: readonly OwnerGrant[],
  returnTo: string,
): FastifyReply {
  return sendSignInPage(reply, {
    status: 200,
    title: 'Choose an owner',
    text: [`You are signed in as ${shownPerson(person)}. You can switch to another owner later.`],
    links: grants.map((grant) => linkTo(grant, returnTo)),
  })
}

export function sendAnotherOwner(
  reply: FastifyReply,
  person: Person,
  wanted: string,
  grants: readonly OwnerGrant[],
  returnTo: string,
): FastifyReply {
  return sendSignInPage(reply, {
    status: 403,
    title: 'No access to this owner',
    text: [`You are signed in as ${shownPerson(person)}, but you have no role for ${wanted}.`],
    links: [...grants.map((grant) => linkTo(grant, returnTo)), again],
  })
}

export function sendRefused(reply: FastifyReply): FastifyReply {
  return sendSignInPage(reply, {
    status: 403,
    title: 'Sign-in failed',
    text: ['This sign-in was rejected, has expired or was used before. You are not signed in.'],
    links: [retry, byKey],
  })
}

/** The issuer has identified the person, who may not sign in, or not now. */
export function sendNotAdmitted(reply: FastifyReply, error: ApiError): FastifyReply {
  const { code, status, message } = error
  const isTooOften = status === 429
  if (error.details.rateLimit) reply.headers(rateLimitHeaders(error.details.rateLimit))
  return sendSignInPage(reply, {
    status,
    title: isTooOften ? 'Too many sign-ins' : 'No access',
    text: [
      isTooOften
        ? 'There were too many sign-ins within a short time. Try again in a minute.'
        : 'You may not sign in: your access was revoked, or it is not allowed from this address. Ask your administrator.',
      `${code}: ${message}`,
    ],
    links: [retry, again, byKey],
  })
}

export function sendUnavailable(reply: FastifyReply): FastifyReply {
  return sendSignInPage(reply, {
    status: 503,
    title: 'Sign-in is not available',
    text: [
      'The issuer that people sign in at cannot be reached. Try again in a few minutes.',
      'Who is signed in already stays signed in for up to an hour.',
    ],
    links: [retry, byKey],
  })
}

function shownPerson({ name, email, subject }: Person): string {
  return name === subject || email === name ? name : `${name} (${email ?? subject})`
}

function linkTo({ owner }: OwnerGrant, returnTo: string): Link {
  const query = new URLSearchParams({ owner: owner.ownerId, returnTo })
  return { href: `/auth/sign-in?${query}`, text: owner.ownerName }
}
