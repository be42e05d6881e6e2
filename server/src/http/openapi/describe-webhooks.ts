// The requests that webhooks receive, for the OpenAPI document.

import { CloudEvent, JobcastEvent, TestEvent } from '@jobcast/contract'

/** See docs/webhooks.md. */
export function describeWebhooks(): Record<string, object> {
  const header = (name: string, description: string) => ({
    ...{ in: 'header', name, required: true },
    ...{ description, schema: { type: 'string' } },
  })
  const parameters = [
    header('webhook-id', 'Identifies the event; the same for each attempt'),
    header('webhook-timestamp', 'When it was sent, in seconds since 1970'),
    header('webhook-signature', 'One or more signatures, as `v1,<base64>`, separated by spaces'),
  ]
  const example = {
    eventId: 17,
    type: 'device.online',
    timestamp: '2026-11-15T09:30:03.000Z',
    data: { deviceId: 'kiosk-1', transport: 'mqtt' },
  }
  return {
    event: {
      post: {
        operationId: 'receiveEvent',
        tags: ['webhooks'],
        summary: 'Receive an event',
        description:
          'Sent to the URL of a webhook for each of its events, at least once, in the order of each run and device. Signed ' +
          'according to Standard Webhooks: verify `webhook-signature` before you use the body. The format of the webhook says what the ' +
          'body is; `slack` and `teams` send messages for people instead.',
        security: [],
        parameters,
        requestBody: {
          content: {
            'application/json': { schema: JobcastEvent, examples: { online: { value: example } } },
            'application/cloudevents+json': { schema: CloudEvent },
          },
        },
        responses: {
          '2XX': { description: 'Accepted' },
          '4XX': {
            description: 'Rejected; the event is sent again later, except with 410, which pauses the webhook',
          },
        },
      },
    },
    test: {
      post: {
        operationId: 'receiveTest',
        tags: ['webhooks'],
        summary: 'Receive a test request',
        description:
          'Sent once by `POST /job/api/webhooks/{webhookName}/test`, signed like an event, to try the receiver.',
        security: [],
        parameters,
        requestBody: { content: { 'application/json': { schema: TestEvent } } },
        responses: {
          '2XX': { description: 'Accepted' },
          '4XX': { description: 'Rejected; the caller of the test gets this result' },
        },
      },
    },
  }
}
