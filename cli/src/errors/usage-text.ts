// Errors of commander in the words of this program.

/** Adds what to do where commander only says what is wrong. */
export function usageText(text: string): string {
  return text
    .replace(
      /^error: command-argument value '(.*)' is invalid for argument '(\w+)'\./,
      "error: the <$2> '$1' is invalid.",
    )
    .replace(
      /^(error: too many arguments for 'trigger'\.) .*/,
      '$1 Only the job is one; name devices with --device, such as --device kiosk-1.',
    )
}
