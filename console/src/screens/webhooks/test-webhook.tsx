import type { WebhookTestResult } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatDuration } from '../../parts/time.ts'

/** Sends a request of type `webhook.test` and shows the result. */
export function TestWebhook({ webhookName }: { webhookName: string }) {
  const [result, setResult] = useState<WebhookTestResult>()
  const test = useAction(async () => {
    setResult(undefined)
    setResult(await jobcast.webhooks.test(webhookName))
  })
  return (
    <section class="panel test-webhook" aria-label="Test">
      <button type="button" disabled={test.isRunning} onClick={() => test.run()}>
        Send test
      </button>
      <p role="status">{result ? <Result result={result} /> : <Hint isRunning={test.isRunning} />}</p>
      <ErrorNote error={test.error} />
    </section>
  )
}

function Result({ result: { status, error, ms } }: { result: WebhookTestResult }) {
  return (
    <>
      <span class={error === null ? '' : 'is-failing'}>{error ?? `accepted, status ${status}`}</span>{' '}
      <span class="quiet">in {formatDuration(ms)}</span>
    </>
  )
}

function Hint({ isRunning }: { isRunning: boolean }) {
  return (
    <span class="quiet">
      {isRunning ? 'Waiting for the receiver…' : 'Sends one signed request of type webhook.test now.'}
    </span>
  )
}
