import { cronInWords } from '@jobcast/contract/cron'

/** Describes a pattern next to its field, if there is a description. */
export function CronPhrase({ cron, suffix = '' }: { cron: string; suffix?: string }) {
  const words = cronInWords(cron)
  return (
    <p class="cron-phrase" role="status">
      {words && `${words.charAt(0).toUpperCase()}${words.slice(1)}${suffix}.`}
    </p>
  )
}

/** "every weekday at 03:00", and the pattern itself. */
export function CronText({ cron }: { cron: string }) {
  const words = cronInWords(cron)
  return (
    <span class="cron-text">
      {words} {words ? <code class="quiet">{cron}</code> : <code>{cron}</code>}
    </span>
  )
}
