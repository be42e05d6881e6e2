// The one client of the page. It has no key: the session cookie authenticates it.

import { Jobcast } from '@jobcast/client'

export const jobcast = new Jobcast({ url: location.origin, maxRetries: 2 })
