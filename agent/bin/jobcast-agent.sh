#!/bin/sh
# shellcheck disable=SC2154 # json() prints assignments
#
# jobcast-agent.sh: the Jobcast agent for devices without Node. It needs a POSIX shell, curl, awk and setsid (busybox has them).
# With --trust it also needs openssl 3. It takes the flags and settings of jobcast-agent; docs/agent.md says what differs.
#
# $state/executions/<jobExecutionId>.<attempt>/ has what it knows about an attempt:
#   started     written and on disk before the handler is started, so that no attempt is started twice
#   rebooting   the handler asked to be started again after the next boot
#   outcome     the final report, on disk before it is sent; the folder is removed when the server has it
#   output      what the handler has printed; the server says from which byte it wants more
# $state/versions/ has the highest version of each signed job, by the SHA-256 of its name.
set -u
umask 077
export LC_ALL=C

url=${JOBCAST_URL:-${JOBCAST_SERVER:-}} device=${JOBCAST_DEVICE:-} token_file=${JOBCAST_TOKEN_FILE:-}
handlers=${JOBCAST_HANDLERS:-} state=${JOBCAST_STATE:-} max_output=10485760 allow_commands='' enrolls='' name=''
enrollment_file='' poll_seconds=${JOBCAST_POLL_SECONDS:-5} grace_seconds=5 max_starts=10 stopping=''
trust=${JOBCAST_TRUST:-} required=${JOBCAST_REQUIRE_SIGNATURES:-0} requires_one='' envelope_type=application/vnd.jobcast.job+json

say() { printf '%s\n' "$*"; }
refuse_start() {
  say "jobcast-agent: $*" >&2
  exit 2
}

read_flags() {
  if [ "${1-}" = enroll ]; then enrolls=1 && shift; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --help) say 'Usage: jobcast-agent.sh [enroll] --url URL --device ID --token-file FILE --handlers FOLDER [--state FOLDER] [--trust FILE --require-signature]' && exit 0 ;;
      --allow-commands) allow_commands=1 && shift && continue ;;
      --require-signature) requires_one=1 && shift && continue ;;
      --http) shift && continue ;; # it always uses HTTP
      --*=*) flag=${1%%=*} value=${1#*=} && shift ;;
      *)
        [ $# -ge 2 ] || refuse_start "$1 has no value, or is not a flag"
        flag=$1 value=$2
        shift 2
        ;;
    esac
    case $flag in
      --url | --server) url=$value ;;
      --device) device=$value ;;
      --token-file) token_file=$value ;;
      --handlers) handlers=$value ;;
      --state) state=$value ;;
      --max-output-bytes) max_output=$value ;;
      --trust) trust=$value ;;
      --require-signatures) required=$value ;;
      --enrollment-token-file) enrollment_file=$value ;;
      --name) name=$value ;;
      *) refuse_start "unknown flag $flag" ;;
    esac
  done
}

check_flags() {
  case $url in http://?* | https://?*) url=${url%/} ;; *) refuse_start '--url must be an address such as https://jobs.example' ;; esac
  case $device in '' | *[!A-Za-z0-9_.:-]*) refuse_start '--device must be the deviceId: letters, digits and _ . : -' ;; esac
  case $max_output in '' | *[!0-9]*) refuse_start '--max-output-bytes must be a positive integer' ;; esac
  for program in curl awk setsid tail head; do
    command -v "$program" >/dev/null || refuse_start "the program $program is needed and not there"
  done
  jobs="$url/things/$device/jobs"
}

# Reads JSON and prints shell assignments: json FILE 'name=path ...'. For each, name_type says what there is: object, array,
# string, literal or nothing. `path[]` gives a list of texts as quoted words, `path{}` the fields of an object as assignments to
# JOBCAST_PARAM_<NAME>, `path~` the JSON text itself, and `path#` how many fields an object has. json_bad=1 if it is not JSON.
# `json FILE '*'` prints every value with its path instead.
json() {
  awk -v want="$2" '
    function fail() { bad = 1; p = n + 1 }
    function blank() { while (p <= n && index(" \t\r\n", substr(s, p, 1))) p++ }
    function code(h,  i, v) { v = 0; for (i = 1; i <= 4; i++) v = v * 16 + index("0123456789abcdef", tolower(substr(h, i, 1))) - 1; return v }
    function utf8(u) {
      if (u == 0) { fail(); return "" }
      if (u < 128) return sprintf("%c", u)
      if (u < 2048) return sprintf("%c%c", 192 + int(u / 64), 128 + u % 64)
      if (u < 65536) return sprintf("%c%c%c", 224 + int(u / 4096), 128 + int(u / 64) % 64, 128 + u % 64)
      return sprintf("%c%c%c%c", 240 + int(u / 262144), 128 + int(u / 4096) % 64, 128 + int(u / 64) % 64, 128 + u % 64)
    }
    function text(  r, c, u, v) {
      if (substr(s, p, 1) != "\"") { fail(); return "" }
      for (p++; p <= n; ) {
        if (match(substr(s, p, 256), /^[^"\\]+/)) { r = r substr(s, p, RLENGTH); p += RLENGTH; continue }
        c = substr(s, p, 1); p++
        if (c == "\"") return r
        c = substr(s, p, 1); p++
        if (c == "u") {
          u = code(substr(s, p, 4)); p += 4
          if (u >= 55296 && u < 56320) { v = code(substr(s, p + 2, 4)); p += 6; u = 65536 + (u - 55296) * 1024 + v - 56320 }
          r = r utf8(u)
        } else r = r (c == "n" ? "\n" : c == "t" ? "\t" : c == "r" ? "\r" : c == "b" ? "\b" : c == "f" ? "\f" : c)
      }
      fail()
    }
    function value(path, depth) { blank(); B[path] = p; inner(path, depth); E[path] = p }
    function inner(path, depth,  c, i, k, from) {
      c = substr(s, p, 1); from = p
      if (depth > 64) { fail(); return }
      if (c == "{" || c == "[") {
        T[path] = c == "{" ? "object" : "array"; p++; blank()
        if (index("]}", substr(s, p, 1))) { p++; if (c == "[") V[path] = "[]"; return }
        for (i = 0; p <= n; i++) {
          blank(); k = i
          if (c == "{") { k = text(); blank(); if (substr(s, p, 1) != ":") fail(); p++ }
          value(path == "" ? k : path "." k, depth + 1); N[path] = i + 1; K[path, i] = k; blank()
          if (substr(s, p, 1) == (c == "{" ? "}" : "]")) { p++; if (c == "[") V[path] = substr(s, from, p - from); return }
          if (substr(s, p, 1) != ",") fail(); p++
        }
        fail()
      } else if (c == "\"") { T[path] = "string"; V[path] = text() }
      else if (match(substr(s, p, 64), /^(true|false|null|-?[0-9][0-9.eE+-]*)/)) { T[path] = "literal"; V[path] = substr(s, p, RLENGTH); p += RLENGTH }
      else fail()
    }
    function quoted(x,  i, count, part, r) {
      count = split(x, part, "\047"); r = part[1]
      for (i = 2; i <= count; i++) r = r "\047\134\047\047" part[i]
      return "\047" r "\047"
    }
    { s = s $0 "\n" }
    END {
      n = length(s); p = 1; value("", 0); blank(); if (p <= n) bad = 1
      if (want == "*") { for (path in T) print path "\t" T[path] "\t" (T[path] == "array" ? "" : V[path]); exit }
      print "json_bad=" (bad ? 1 : "\047\047")
      for (k = split(want, W, " "); k > 0; k--) {
        at = index(W[k], "="); name = substr(W[k], 1, at - 1); path = substr(W[k], at + 1)
        if (sub(/\[\]$/, "", path)) {
          type = T[path]; words = ""
          for (i = 0; i < N[path]; i++) { if (T[path "." i] != "string" && (T[path "." i] != "literal" || V[path "." i] == "null")) type = "other"; words = words quoted(V[path "." i]) " " }
          print name "=" quoted(words); print name "_type=" quoted(type)
        } else if (sub(/#$/, "", path)) { print name "=" N[path] + 0 }
        else if (sub(/~$/, "", path)) {
          print name "=" quoted(substr(s, B[path], E[path] - B[path])); print name "_type=" quoted(T[path])
        } else if (sub(/[{][}]$/, "", path)) {
          words = ""
          for (i = 0; i < N[path]; i++) {
            field = K[path, i]; variable = toupper(field); gsub(/-/, "_", variable)
            if (field ~ /^[A-Za-z_][A-Za-z0-9_-]*$/) words = words "JOBCAST_PARAM_" variable "=" quoted(V[path "." field]) " "
          }
          print name "=" quoted(words)
        } else { print name "=" quoted(V[path]); print name "_type=" quoted(T[path]) }
      }
    }' "$1"
}

# As part of a JSON string: without control characters, short.
json_text() {
  text=$(printf '%s' "$1" | tr '\000-\037\177' ' ' | sed 's/["\\]/\\&/g')
  if [ ${#text} -gt 1000 ]; then text=$(printf '%s' "$1" | tr -cd 'A-Za-z0-9 .,:;_/-' | cut -c1-1000); fi
  printf '%s' "$text"
}

# call FILE METHOD PATH [curl arguments]: the body is in FILE, the status in $code; 000 is no answer. The token goes through a
# pipe, because everyone on the machine can read command lines.
call() {
  into=$1 method=$2 path=$3
  shift 3
  rm -f "$into" "$into.code"
  read_token | curl -sS -K - -X "$method" -o "$into" -w '%{http_code}' --connect-timeout 20 --max-time 75 \
    "$@" "$jobs$path" >"$into.code" 2>"$into.error" &
  # When the agent is to stop, a last report gets three seconds, a long poll none.
  case $path in *wait=*) await $! 0 ;; *) await $! 3 ;; esac
  code=000
  [ "$await_code" != 0 ] || code=$(cat "$into.code" 2>/dev/null)
  : "${code:=000}"
  [ -f "$into" ] || : >"$into"
}

# await PID SECONDS: until that process has ended, with its exit code in $await_code. When the agent is to stop, it gets so many
# seconds (`handler`: what handlers get) and is then killed. That is begun by the trap: a signal that comes between a look at
# $stopping and the wait would be noticed only after the wait. KILL, because a shell that has just forked ignores other signals.
awaited='' ender=''
await() {
  awaited=$1 await_limit=$2 ender=''
  [ -z "$stopping" ] || end_awaited
  wait "$1" 2>/dev/null
  await_code=$?
  # The signal has ended the wait, and not what is waited for.
  while kill -0 "$1" 2>/dev/null; do
    wait "$1" 2>/dev/null
    await_code=$?
  done
  awaited=''
  [ -z "$ender" ] || kill -KILL "$ender" 2>/dev/null
}

stop() {
  stopping=1
  [ -z "$awaited" ] || end_awaited
}

end_awaited() {
  [ -z "$ender" ] || return 0
  case $await_limit in
    0) kill -KILL "$awaited" 2>/dev/null ;;
    handler) say stopping >"$folder/ending" && end_group & ;;
    *) sleep "$await_limit" && kill -KILL "$awaited" 2>/dev/null & ;;
  esac
  [ "$await_limit" = 0 ] || ender=$!
}

read_token() {
  if [ -n "$token_file" ]; then
    case $(ls -ld "$token_file") in
      -???------*) printf 'header = "Authorization: Bearer %s"\n' "$(cat "$token_file")" ;;
      *) say "others can read the token file $token_file: chmod 600 $token_file" >&2 ;;
    esac
  else
    printf 'header = "Authorization: Bearer %s"\n' "${JOBCAST_DEVICE_TOKEN:-}"
  fi
}

# The same until the server has decided, for days if necessary. Fails only when the agent is to stop.
call_until_answered() {
  delay=1
  while :; do
    call "$@"
    if [ -n "$stopping" ] && [ "$code" = 000 ]; then return 1; fi
    case $code in
      000 | 5?? | 429) note_connection "no connection to $url: $(head -n 1 "$1.error") $code" ;;
      401 | 403) note_connection "sign-in refused by $url. Retrying; the token file is read again each time" ;;
      *) note_connection "connected to $url" && return 0 ;;
    esac
    [ -z "$stopping" ] || return 1
    pause "$delay"
    [ -z "$stopping" ] || return 1
    delay=$((delay < 16 ? delay * 2 : 30))
  done
}

pause() {
  sleep "$1" &
  await $! 0
}

# An outage of days is one line.
connection=''
note_connection() {
  [ "$connection" = "$1" ] || say "$1"
  connection=$1
}

# Seconds that no clock change disturbs.
uptime_seconds() {
  if read -r up _ 2>/dev/null </proc/uptime; then say "${up%%.*}"; else date +%s; fi
}

# Written to disk, with the folder that it is in.
on_disk() { if [ -n "$syncs_one" ]; then sync -f "$1"; else sync; fi; }

open_state() {
  if [ -z "$state" ]; then
    if [ "$(id -u)" = 0 ]; then state=/var/lib/jobcast-agent/$device; else state=$HOME/.jobcast-agent/$device; fi
  fi
  mkdir -p "$state/executions" || refuse_start "the folder $state cannot be created"
  state=$(cd "$state" && pwd)
  syncs_one=''
  if sync -f "$state" 2>/dev/null; then syncs_one=1; fi
  take_lock
  boot=${JOBCAST_BOOT_ID:-$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown)}
  if [ ! -s "$state/agent" ]; then
    random_id >"$state/agent.new" && mv "$state/agent.new" "$state/agent" && on_disk "$state"
  fi
  agent=$(cat "$state/agent")
  touch "$state/settled"
}

random_id() { od -An -N6 -tx1 /dev/urandom | tr -d ' \n'; }

# Only one agent may use a state folder. The file names the process that holds it and when that was started.
take_lock() {
  holder="$$ $(started_at $$)"
  while ! (set -C && printf '%s\n' "$holder" >"$state/lock") 2>/dev/null; do
    read -r pid at <"$state/lock" || { pid='' at=''; }
    if [ -n "$pid" ] && [ "$(started_at "$pid")" = "$at" ]; then
      refuse_start "Another agent is running with the state folder $state."
    fi
    rm -f "$state/lock"
  done
  trap 'rm -f "$state/lock"' EXIT
}

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

check_handlers() {
  [ -d "$handlers" ] || refuse_start "--handlers must name a folder: \"$handlers\" is not there"
  handlers=$(cd "$handlers" && pwd)
  case $(ls -ld "$handlers") in
    ????????w*) refuse_start "Everyone can write to the folder of handlers $handlers: chmod o-w $handlers" ;;
  esac
}

# What is known about an attempt: $start, $id, $booted, $queued_before, $reruns. Its content is our own.
read_started() {
  start=0 id='' booted='' queued_before='' reruns=''
  # shellcheck source=/dev/null
  if [ -f "$1/started" ]; then . "$1/started"; fi
}

# The final report. It is on disk before it is sent.
write_outcome() { # folder attempt status reason more-details
  reason=''
  [ -z "$4" ] || reason=",\"reason\":\"$(json_text "$4")\""
  result=''
  if [ -s "$1/result.json" ]; then
    eval "$(json "$1/result.json" '')"
    size=$(wc -c <"$1/result.json")
    if [ -n "$json_bad" ]; then
      reason="$reason,\"resultProblem\":\"the result is not JSON\""
    elif [ "$size" -gt 65536 ]; then
      reason="$reason,\"resultProblem\":\"the result is larger than 64 KiB\""
    else
      result=",\"result\":$(cat "$1/result.json")"
    fi
  fi
  [ "$3" = REJECTED ] || reason=",\"agent\":\"$agent\"$reason"
  details=$(printf '%s%s' "$reason" "$5" | sed 's/^,//')
  printf '{"status":"%s","executionNumber":%s,"statusDetails":{%s}%s}' "$3" "$2" "$details" "$result" >"$1/outcome.new"
  mv "$1/outcome.new" "$1/outcome" && on_disk "$1"
  say "execution $job, attempt $2: $3${4:+: $4}"
}

# Sends what the server does not have yet, from byte $offset on. Fails if the attempt is over, or output is not wanted.
send_output() { # file folder job attempt
  while size=$({ wc -c <"$2/output" || echo 0; } 2>/dev/null) && [ "$size" -gt "$offset" ] && [ ! -f "$2/cut" ]; do
    tail -c "+$((offset + 1))" "$2/output" | head -c 65536 >"$1.piece"
    call "$1" POST "/$3/output?offset=$offset&executionNumber=$4" -H 'Content-Type: application/octet-stream' --data-binary "@$1.piece"
    case $code in
      000 | 5?? | 429 | 401 | 403) return 0 ;;
    esac
    eval "$(json "$1" 'wanted=offset cut=cut')"
    if [ -z "$wanted" ] || [ "$cut" = true ] || [ "$wanted" = "$offset" ]; then : >"$2/cut" && break; fi
    offset=$wanted
  done
  # More than the server takes does not fill the disk.
  if [ "$size" -gt $((max_output + 1048576)) ]; then : >"$2/cut" && : >"$2/output"; fi
}

# Delivers the rest of the output and the outcome, then forgets the attempt. Fails when the agent is to stop first.
report() { # folder job attempt
  offset=0
  send_output "$tmp" "$1" "$2" "$3"
  call_until_answered "$tmp" POST "/$2" -H 'Content-Type: application/json' --data-binary "@$1/outcome" || return 1
  eval "$(json "$tmp" 'now=executionState.status message=message')"
  if [ "$code" = 400 ] || { [ "$code" = 409 ] && [ "$now" = IN_PROGRESS ]; }; then
    # A report with less in it is better than none: otherwise the execution would stay in progress.
    ended=SUCCEEDED
    grep -q '^{"status":"SUCCEEDED"' "$1/outcome" || ended=FAILED
    body="{\"status\":\"$ended\",\"executionNumber\":$3,\"statusDetails\":{\"agent\":\"$agent\",\"reason\":\"its report was refused: $(json_text "$message")\"}}"
    call_until_answered "$tmp" POST "/$2" -H 'Content-Type: application/json' --data-binary "$body" || return 1
  fi
  case $code in
    2??) say "execution $2, attempt $3: reported" ;;
    *) say "execution $2, attempt $3: report refused: $message" ;;
  esac
  settle "$1"
}

settle() {
  read_started "$1"
  printf '%s %s\n' "${1##*/}" "$queued_before" >>"$state/settled"
  if [ "$(wc -l <"$state/settled")" -gt 2000 ]; then
    tail -n 1000 "$state/settled" >"$state/settled.new" && mv "$state/settled.new" "$state/settled"
  fi
  rm -rf "$1"
}

# Processes of a start that outlived the agent have its id in their environment.
end_leftovers() {
  [ -n "$1" ] || return 0
  for signal in TERM KILL; do
    found=''
    for process in /proc/[0-9]*; do
      if grep -aq "JOBCAST_START_ID=$1" "$process/environ" 2>/dev/null; then
        kill "-$signal" "${process#/proc/}" 2>/dev/null && found=1
      fi
    done
    [ -n "$found" ] || return 0
    [ $signal = KILL ] || sleep 1
  done
}

# After a crash or a reboot.
recover() {
  for folder in "$state"/executions/*.*; do
    [ -d "$folder" ] || continue
    key=${folder##*/} job=${key%.*} attempt=${key#*.}
    case $job$attempt in *[!0-9]*) rm -rf "$folder" && continue ;; esac
    read_started "$folder"
    if [ -f "$folder/outcome" ] || is_rebooting "$folder"; then continue; fi
    if [ "$start" = 0 ]; then rm -rf "$folder" && continue; fi
    [ "$booted" != "$boot" ] || end_leftovers "$id"
    if [ -n "$reruns" ] && [ "$start" -lt $max_starts ]; then continue; fi
    rm -f "$folder/result.json"
    write_outcome "$folder" "$attempt" FAILED 'interrupted: the agent stopped while it ran' "$(starts_detail)"
  done
}

starts_detail() { [ "$start" -le 1 ] || printf ',"starts":"%s"' "$start"; }

# It counts for the start that asked for it.
is_rebooting() { [ -f "$1/rebooting" ] && [ "$(head -n 1 "$1/rebooting")" = "$start" ]; }

report_finished() {
  for each in "$state"/executions/*.*; do
    [ -f "$each/outcome" ] || continue
    key=${each##*/}
    report "$each" "${key%.*}" "${key#*.}" || return 1
  done
}

forget_others() {
  for each in "$state"/executions/*.*; do
    if [ -d "$each" ] && [ "${each##*/}" != "$1" ]; then settle "$each"; fi
  done
}

# Decides what becomes of the execution that the server hands out: $job, $attempt, $queued, $version, $begun_by.
carry_out() {
  folder=$state/executions/$job.$attempt
  forget_others "$job.$attempt"
  read_started "$folder"
  # Another service, or one with a new database, uses the same numbers.
  if [ "$start" != 0 ] && [ "$queued_before" != "$queued" ]; then settle "$folder" && read_started "$folder"; fi
  resumed=''
  mkdir -p "$folder/work"
  if [ "$start" = 0 ]; then
    if [ "$begun_by" != "$agent" ] || grep -qx "$job.$attempt $queued" "$state/settled"; then
      finish FAILED "interrupted: the agent ${begun_by:-another} began it as this device, and it is not started a second time"
      return
    fi
  elif is_rebooting "$folder"; then
    if [ "$(tail -n 1 "$folder/rebooting")" = "$boot" ]; then wait_for_reboot && return; fi
    resumed=1
  elif [ -z "$reruns" ] || [ "$start" -ge $max_starts ]; then
    finish FAILED 'interrupted: the agent stopped while it ran'
    return
  fi
  if trusts; then plan || return; else refuse_job && return; fi
  run_handler
}

finish() { # status reason more-details
  write_outcome "$folder" "$attempt" "$1" "$2" "${3-}$(starts_detail)"
  report "$folder" "$job" "$attempt"
}

# Sets $program, $words, $limit and $reruns, or ends the attempt without starting it.
plan() {
  eval "$(json "$folder/document" 'root= handler=handler words=args[] command=command[] limit=timeoutSeconds on=onInterrupt steps=steps')"
  reruns='' problem='' program=''
  if [ -n "$json_bad" ] || [ "$root_type" != object ]; then
    problem='the document is not a JSON object, or has a NUL character in it'
  elif [ -n "$steps_type" ]; then
    problem='this device runs jobcast-agent.sh, which does not know steps'
  elif [ "$command_type" = array ] && [ -n "$command" ]; then
    if [ -z "$allow_commands" ]; then problem='this device does not run commands (--allow-commands)'; fi
    words=$command
  elif [ "$handler_type" != string ]; then
    problem='the document names no handler'
  elif case $words_type in '' | array) false ;; esac then
    problem='args is not a list of texts'
  else
    find_handler
  fi
  case $limit in *[!0-9.]* | 0) problem='timeoutSeconds is not a number of seconds above 0' ;; esac
  case $on in '' | report) ;; rerun) reruns=1 ;; *) problem='onInterrupt is neither "report" nor "rerun"' ;; esac
  [ -n "$problem" ] || return 0
  refuse_job
  return 1
}

# What has begun once can only fail.
refuse_job() { if [ "$start" = 0 ]; then finish REJECTED "$problem"; else finish FAILED "$problem"; fi; }

check_trust() {
  case $required in '' | *[!0-9]*) refuse_start '--require-signatures must be a positive integer' ;; esac
  if [ -n "$requires_one" ] && [ "$required" = 0 ]; then required=1; fi
  if [ -z "$trust" ]; then
    [ "$required" = 0 ] || refuse_start '--trust must name the file of the keys that are trusted'
    return 0
  fi
  # Ed25519 on the command line came with OpenSSL 3.0.
  openssl pkeyutl -help 2>&1 | grep -q -e -rawin || refuse_start '--trust needs openssl 3.0 or later'
  read_keys || refuse_start "The file of trusted keys $trust $problem"
  count=$(find "$tmp.keys" -name '*.pem' | wc -l)
  [ "$count" -ge "$required" ] || refuse_start "$required signatures are required, but $trust has $((count)) different keys"
  mkdir -p "$state/versions" || refuse_start "the folder $state cannot be written"
}

# Each trusted key as a file named by its id, so that the same key twice is one.
read_keys() {
  problem=''
  rm -rf "$tmp.keys"
  mkdir "$tmp.keys" || { problem='cannot be copied' && return 1; }
  case $(ls -ldL "$trust" 2>/dev/null) in
    '') problem='cannot be read' ;;
    ????????w*) problem='can be written by everyone (chmod o-w)' ;;
  esac
  if grep -q 'PRIVATE KEY-----' "$trust" 2>/dev/null; then problem='has a private key in it; a device needs only the public keys of authors'; fi
  [ -z "$problem" ] || return 1
  awk -v to="$tmp.keys/part" '
    /^-----BEGIN PUBLIC KEY-----/ { n++; on = 1 }
    on { print > (to n) }
    /^-----END PUBLIC KEY-----/ { on = 0; close(to n) }' "$trust"
  for part in "$tmp.keys"/part*; do
    [ -f "$part" ] || { problem='has no public key in it (-----BEGIN PUBLIC KEY-----)' && return 1; }
    openssl pkey -pubin -in "$part" -noout -text 2>/dev/null | grep -qi '^ED25519' || { problem='has a key in it that is not an Ed25519 key' && return 1; }
    key_id=$(openssl pkey -pubin -in "$part" -outform DER | openssl dgst -sha256 -r | cut -c1-64)
    mv "$part" "$tmp.keys/$key_id.pem"
  done
}

# Puts what is to run into $folder/document: what the server says, or on a device that trusts authors, what they have signed.
# Otherwise it fails with $problem.
trusts() {
  problem=''
  if [ -z "$trust" ] || { [ -z "$signature_type" ] && [ "$required" = 0 ]; }; then
    printf '%s' "$document" >"$folder/document"
    return
  fi
  if [ -z "$signature_type" ]; then
    problem='it is not signed, and this device runs only signed jobs'
    return 1
  fi
  if ! read_keys; then
    problem="not trusted: the file of trusted keys $problem"
    return 1
  fi
  if is_signed && is_allowed; then return 0; fi
  problem="not trusted: $problem"
  return 1
}

# Standard or URL-safe base64.
decode() { { printf '%s' "$1" | tr '_-' '/+' | fold -w 64 && echo; } | openssl base64 -d 2>/dev/null; }

# Whether enough different keys have signed the payload, which is then in $folder/payload (DSSE).
is_signed() {
  if [ "$signature_kind" != $envelope_type ] || [ ${#payload} -gt 131072 ]; then
    problem="its signature is not an envelope of type $envelope_type"
    return 1
  fi
  decode "$payload" >"$folder/payload"
  size=$(wc -c <"$folder/payload")
  { printf 'DSSEv1 %s %s %s ' ${#envelope_type} $envelope_type $((size)) && cat "$folder/payload"; } >"$folder/signed"
  signers=0
  for key in "$tmp.keys"/*.pem; do
    for each in "$sig0" "$sig1" "$sig2" "$sig3" "$sig4" "$sig5" "$sig6" "$sig7" "$sig8" "$sig9"; do
      [ -n "$each" ] || continue
      decode "$each" >"$folder/signature"
      if openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$folder/signed" -sigfile "$folder/signature" >/dev/null 2>&1; then
        signers=$((signers + 1))
        break
      fi
    done
  done
  needed=$((required > 0 ? required : 1))
  if [ $signers -lt $needed ]; then
    problem="$signers of the keys that this device trusts have signed it as it is, and $needed are required"
    return 1
  fi
}

# Whether what was signed is this job, may still run, and is something that this agent can do. What it cannot, it refuses.
is_allowed() {
  eval "$(json "$folder/payload" 'fields=# signed_name=jobName signed_version=version signed=document~ schema=parameters until=notAfter')"
  known=3
  [ -z "$until_type" ] || known=4
  if [ -n "$json_bad" ] || [ "$signed_type" != object ] || [ "$signed_name_type" != string ]; then
    problem='what was signed is not a job'
  elif case $signed_version in '' | 0* | *[!0-9]* | ????????????????*) true ;; *) false ;; esac then
    problem='what was signed has no version'
  elif [ "$signed_name" != "$job_name" ]; then
    problem="the signature is of the job \"$signed_name\", and this is \"$job_name\""
  elif [ -n "$schema_type" ] || [ "$parameter_count" != 0 ]; then
    problem='this device runs jobcast-agent.sh, which does not know parameters'
  elif [ "$fields" != $known ]; then
    problem='what was signed has fields that jobcast-agent.sh does not know'
  elif case $signed in *'${'* | *'\u0024'* | *'\u007'[bB]*) true ;; *) false ;; esac then
    problem='this device runs jobcast-agent.sh, which does not know placeholders'
  elif ! is_in_time; then
    problem="the signature was valid until $until"
  elif ! is_same; then
    problem='the server hands out another document than the one that was signed'
  else
    is_newest && return
  fi
  : "${problem:=the agent cannot write to its disk}"
  return 1
}

# What runs is what was signed anyway. But a server that says something else is broken or taken, and its owner is to know.
is_same() {
  printf '%s' "$document" >"$folder/offered" && printf '%s' "$signed" >"$folder/document" || return 1
  [ "$(json "$folder/offered" '*' | sort)" = "$(json "$folder/document" '*' | sort)" ]
}

# Both are texts of the same form, so they compare like the instants.
is_in_time() {
  [ -n "$until_type" ] || return 0
  case $until in
    [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z) ;;
    *) return 1 ;;
  esac
  awk -v now="$(date -u +%Y-%m-%dT%H:%M:%SZ)" -v until="$until" 'BEGIN { exit !(now "" <= until "") }'
}

# The version is on disk before the job is started, so that nobody can go back to one that its author has replaced.
is_newest() {
  seen_file=$state/versions/$(printf '%s' "$signed_name" | openssl dgst -sha256 -r | cut -c1-64)
  seen=0
  [ ! -e "$seen_file" ] || seen=$(cat "$seen_file")
  case $seen in '' | *[!0-9]*) problem="the file $seen_file is damaged" && return 1 ;; esac
  if [ "$signed_version" -lt "$seen" ]; then
    problem="its version $signed_version is older than version $seen, which this device has seen"
    return 1
  fi
  [ "$signed_version" != "$seen" ] || return 0
  printf '%s\n' "$signed_version" >"$seen_file.new" && mv "$seen_file.new" "$seen_file" && on_disk "$seen_file"
}

find_handler() {
  program=$handlers/$handler
  case $handler in
    '' | .* | */*) problem='the name of a handler has a slash or begins with a dot' && return ;;
  esac
  if [ ! -e "$program" ]; then
    problem="there is no handler \"$handler\" on this device"
  elif [ ! -f "$program" ]; then
    problem="the handler \"$handler\" is not a file"
  elif [ ! -x "$program" ]; then
    problem="the handler \"$handler\" is not executable (chmod +x)"
  else
    case $(ls -ldL "$program") in ????????w*) problem="the handler \"$handler\" can be written by everyone" ;; esac
  fi
}

run_handler() {
  # It is handed out again when the agent is back.
  [ -z "$stopping" ] || return
  start=$((start + 1)) id=$(random_id)
  rm -f "$folder/ending" "$folder/result.json"
  if ! printf 'start=%s\nid=%s\nbooted=%s\nqueued_before=%s\nreruns=%s\n' "$start" "$id" "$boot" "$queued" "$reruns" >"$folder/started.new" ||
    ! mv "$folder/started.new" "$folder/started" || ! on_disk "$folder"; then
    finish FAILED 'not started, because the agent cannot write to its disk'
    return
  fi
  # From here on it counts as started.
  begun=$(uptime_seconds)
  start_program &
  pid=$!
  say "execution $job, attempt $attempt: started, pid $pid"
  watch_handler &
  watcher=$!
  await "$pid" handler
  exit_code=$await_code
  kill -KILL "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null
  # What it left behind gets a second to finish.
  if kill -0 "-$pid" 2>/dev/null; then sleep 1 && kill -KILL "-$pid" 2>/dev/null; fi
  judge
}

# In a session, and so a process group, of its own. It sees none of the agent's settings.
start_program() {
  trap - EXIT TERM INT
  for variable in $(env | sed -n 's/^\(JOBCAST_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
  export JOBCAST_DEVICE_ID="$device" JOBCAST_JOB_ID="$job" JOBCAST_ATTEMPT="$attempt" JOBCAST_START="$start"
  export JOBCAST_STEP="${handler:-command}" JOBCAST_RESULT_FILE="$folder/result.json" JOBCAST_START_ID="$id"
  if [ -n "$resumed" ]; then export JOBCAST_RESUMED=1; fi
  # Names and values were quoted when they were read.
  if [ -n "$parameters" ]; then eval "export $parameters"; fi
  cd "$folder/work" || exit 126
  eval "set -- $words"
  if [ -n "$program" ]; then set -- "$program" "$@"; fi
  exec setsid "$@" <"$folder/document" >>"$folder/output" 2>&1
}

# TERM to every process of the group, and KILL after the grace time. What was started just now is not a group yet.
end_group() {
  signal_group TERM
  waited=0
  while [ $waited -lt $grace_seconds ] && signal_group 0; do sleep 1 && waited=$((waited + 1)); done
  signal_group KILL
}

signal_group() { kill "-$1" "-$pid" 2>/dev/null || kill "-$1" "$pid" 2>/dev/null; }

# While it runs: sends output and progress, and looks whether its time is up or the owner wants it to end.
watch_handler() {
  trap - EXIT TERM INT
  offset=0 scanned=0 last='' seconds=0 mine=$folder/answer
  # Not longer than the agent itself, whose process id $$ is here as well.
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    seconds=$((seconds + 1))
    send_output "$mine" "$folder" "$job" "$attempt"
    send_progress
    if [ -n "$limit" ] && [ $(($(uptime_seconds) - begun)) -ge "${limit%%.*}" ]; then
      say time-limit >"$folder/ending" && end_group && return
    fi
    [ $((seconds % poll_seconds)) = 0 ] || continue
    find_ending "$mine"
    if [ -n "$ending" ]; then say "$ending" >"$folder/ending" && end_group && return; fi
  done
}

# A line "::progress 40 some text".
send_progress() {
  line=$(tail -c "+$((scanned + 1))" "$folder/output" | grep -a '^::progress [0-9]' | tail -n 1)
  scanned=$offset
  if [ -z "$line" ] || [ "$line" = "$last" ]; then return 0; fi
  last=$line
  progress_detail "$line" >"$folder/progress"
  call "$mine" POST "/$job" -H 'Content-Type: application/json' --data-binary \
    "{\"status\":\"IN_PROGRESS\",\"executionNumber\":$attempt,\"includeJobExecutionState\":true,\"statusDetails\":{\"agent\":\"$agent\"$(cat "$folder/progress")}}"
  eval "$(json "$mine" 'seen=executionState.versionNumber')"
  version=$seen
}

progress_detail() {
  rest=${1#::progress } percent=${rest%% *}
  case $percent in *[!0-9]* | ????*) return ;; esac
  printf ',"progress":"%s"' "$percent"
  case $rest in *' '*) printf ',"message":"%s"' "$(json_text "${rest#* }")" ;; esac
}

# Over HTTP a cancel shows as a version that this agent did not make; a forced one, or a time-out, as the end.
find_ending() {
  ending=''
  call "$1" GET "/$job?executionNumber=$attempt"
  case $code in
    404 | 410) ending=withdrawn ;;
    200)
      eval "$(json "$1" 'seen=execution.versionNumber')"
      if [ -n "$version" ] && [ -n "$seen" ] && [ "$seen" != "$version" ]; then ending=canceled; fi
      ;;
  esac
}

# What the end of the handler means.
judge() {
  ending=$(cat "$folder/ending" 2>/dev/null)
  progress=$(cat "$folder/progress" 2>/dev/null)
  duration=",\"durationMs\":\"$((($(uptime_seconds) - begun) * 1000))\""
  detail=",\"exitCode\":\"$exit_code\"" why="exited with code $exit_code"
  if [ "$exit_code" -gt 128 ] && signal=$(kill -l $((exit_code - 128)) 2>/dev/null); then
    detail=",\"signal\":\"SIG${signal#SIG}\"" why="was ended by SIG${signal#SIG}"
  fi
  detail="$progress$detail$duration"
  case $ending in
    withdrawn) say "execution $job, attempt $attempt: already ended on the server" && settle "$folder" ;;
    canceled) finish CANCELED '' "$detail" ;;
    time-limit) finish FAILED 'took longer than its time limit' "$detail" ;;
    stopping)
      [ -n "$reruns" ] || finish FAILED 'interrupted: the agent was stopped while it ran' "$detail"
      ;;
    *)
      if [ "$exit_code" = 194 ] && [ "$start" -lt $max_starts ]; then
        printf '%s\n%s\n' "$start" "$boot" >"$folder/rebooting.new" && mv "$folder/rebooting.new" "$folder/rebooting"
        on_disk "$folder"
        wait_for_reboot
      elif [ "$exit_code" = 0 ]; then
        finish SUCCEEDED '' "$detail"
      else
        finish FAILED "$why" "$detail"
      fi
      ;;
  esac
}

# Until then nothing else starts, and it can be canceled.
wait_for_reboot() {
  say "execution $job, attempt $attempt: waiting for a reboot"
  offset=0
  send_output "$tmp" "$folder" "$job" "$attempt"
  call_until_answered "$tmp" POST "/$job" -H 'Content-Type: application/json' --data-binary \
    "{\"status\":\"IN_PROGRESS\",\"executionNumber\":$attempt,\"includeJobExecutionState\":true,\"statusDetails\":{\"agent\":\"$agent\",\"waitsFor\":\"reboot\"}}"
  eval "$(json "$tmp" 'version=executionState.versionNumber')"
  while [ -z "$stopping" ]; do
    pause "$poll_seconds"
    find_ending "$tmp"
    case $ending in
      withdrawn) settle "$folder" && return ;;
      canceled) finish CANCELED 'canceled before the reboot' && return ;;
    esac
  done
}

signature_paths=''
for index in 0 1 2 3 4 5 6 7 8 9; do signature_paths="$signature_paths sig$index=execution.jobSignature.signatures.$index.sig"; done

work() {
  while [ -z "$stopping" ]; do
    report_finished || return
    call_until_answered "$tmp" PUT '/$next' -H 'Content-Type: application/json' --data-binary "{\"statusDetails\":{\"agent\":\"$agent\"}}" || return
    eval "$(json "$tmp" 'job=execution.jobId attempt=execution.executionNumber queued=execution.queuedAt version=execution.versionNumber begun_by=execution.statusDetails.agent document=execution.jobDocument job_name=execution.jobName parameters=execution.parameters{} parameter_count=execution.parameters# signature=execution.jobSignature signature_kind=execution.jobSignature.payloadType payload=execution.jobSignature.payload'"$signature_paths")"
    case $job$attempt$queued in *[!0-9]*) say "the server's answer is not understood" && pause 30 && continue ;; esac
    if [ -n "$job" ] && [ -n "$attempt" ]; then
      carry_out
    else
      forget_others ''
      call_until_answered "$tmp" GET '?wait=30' || return
      [ "$code" = 200 ] || pause 5
    fi
  done
}

enroll() {
  [ -n "$token_file" ] || refuse_start '--token-file must name the file to write the token to'
  [ ! -e "$token_file" ] || refuse_start "there is a token in $token_file already"
  if [ -n "$enrollment_file" ]; then JOBCAST_ENROLLMENT_TOKEN=$(cat "$enrollment_file"); fi
  case ${JOBCAST_ENROLLMENT_TOKEN:-} in je_*) ;; *) refuse_start '--enrollment-token-file or JOBCAST_ENROLLMENT_TOKEN must give an enrollment token (je_...)' ;; esac
  # On disk before it is sent: after a lost answer the same claim gets a token without counting as another use.
  [ -s "$token_file.claim" ] || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$token_file.claim"
  body="{\"claim\":\"$(cat "$token_file.claim")\"${name:+,\"deviceName\":\"$(json_text "$name")\"}}"
  code=$(printf 'header = "Authorization: Bearer %s"\n' "$JOBCAST_ENROLLMENT_TOKEN" | curl -sS -K - -o "$token_file.answer" -w '%{http_code}' \
    --max-time 30 -H 'Content-Type: application/json' --data-binary "$body" "$url/things/$device/enroll") || code=000
  eval "$(json "$token_file.answer" 'issued=deviceToken message=message')"
  rm -f "$token_file.answer"
  if [ "$code" != 201 ] || [ -z "$issued" ]; then
    say "jobcast-agent: cannot enroll the device: ${message:-no answer from $url} ($code)" >&2
    exit 1
  fi
  printf '%s\n' "$issued" >"$token_file.new" && mv "$token_file.new" "$token_file" && sync && rm -f "$token_file.claim"
  say "$device is enrolled. Its token is in $token_file."
}

read_flags "$@"
check_flags
if [ -n "$enrolls" ]; then enroll && exit 0; fi
check_handlers
[ -n "$token_file" ] || [ -n "${JOBCAST_DEVICE_TOKEN:-}" ] || refuse_start '--token-file must name a file'
[ -z "$token_file" ] || [ -n "$(read_token 2>&1 | grep 'Bearer jd_')" ] || refuse_start "$(read_token 2>&1 | grep -v Bearer)there is no device token (jd_...) in $token_file that only its owner can read"
open_state
tmp=$state/tmp
check_trust
trap stop TERM INT
recover
work
exit 0
