// Metadata of a protected resource (RFC 9728), with which assistants find the issuer, as required by the Model Context Protocol.

import { ApiError } from '@jobcast/contract'
import { type AssistantSessions, mcpUrl, resourceMetadataUrl } from '../access/assistant-sessions.ts'
import type { App } from '../app-type.ts'

/** Without an issuer there is no metadata, and assistants use keys. */
export function addMcpSignIn(app: App, assistants: AssistantSessions | undefined): void {
  for (const url of [resourceMetadataUrl, resourceMetadataUrl + mcpUrl]) {
    app.route({
      method: 'GET',
      url,
      exposeHeadRoute: false,
      schema: { hide: true },
      handler: async () => {
        if (assistants === undefined) throw new ApiError('J-901')
        return assistants.metadata
      },
    })
  }
}
