#!/bin/sh
# shellcheck disable=SC2154,SC2034 # parse sets variables
#
# jobcast-agent.sh: the Jobcast agent for devices without Node. It needs a POSIX shell, curl, awk and setsid (busybox has them).
# With --trust it also needs openssl 3. It takes the flags and settings of jobcast-agent; docs/agent.md says what differs.
#
# What the server says is never trusted: it reaches the shell only as quoted text (parse), numbers are checked before any use
# (is_count), files are named by checked numbers or hashes only, and an answer has a limit of size.
#
# $state/executions/<jobExecutionId>.<attempt>/ has what it knows about an attempt:
#   started     written and on disk before the handler is started, so that no attempt is started twice
#   rebooting   the handler asked to be started again after the next boot
#   outcome     the final report, on disk before it is sent; the folder is removed when the server has it
#   output      what the handler has printed; the server says from which byte it wants more
# $state/versions/ has the highest version of each signed job and the SHA-256 of what was signed, by the SHA-256 of its name.
# $state/files/ has fetched files by their SHA-256, those that are being fetched with .part behind it.
# $state/attributes has what was reported about the device.
set -u
umask 077
export LC_ALL=C

agent_version=0.1.0
url=${JOBCAST_URL:-${JOBCAST_SERVER:-}} device=${JOBCAST_DEVICE:-} token_file=${JOBCAST_TOKEN_FILE:-}
handlers=${JOBCAST_HANDLERS:-} state=${JOBCAST_STATE:-} max_output=10485760 allow_commands='' enrolls='' name=''
enrollment_file='' poll_seconds=${JOBCAST_POLL_SECONDS:-5} grace_seconds=5 max_starts=10 max_steps=100 stopping=''
limit_rate=${JOBCAST_LIMIT_RATE:-} attributes_file=${JOBCAST_ATTRIBUTES_FILE:-} audience=${JOBCAST_AUDIENCE:-}
trust=${JOBCAST_TRUST:-} required=${JOBCAST_REQUIRE_SIGNATURES:-0} requires_one='' envelope_type=application/vnd.jobcast.job+json
# Of an answer. In blocks of 512 bytes, or 1024 in some shells, for what curl writes without knowing its length.
max_answer=1048576 max_answer_blocks=2048
# Of files: how much is kept, how long one request may take before the server is asked about the execution, how often nothing arrives.
max_kept_bytes=1073741824 fetch_seconds=20 max_fetch_tries=30

# A line of the log. Control characters could look like other lines, or steer a terminal.
say() {
  printf '%s' "$*" | tr '\000-\037\177' ' '
  echo
}
refuse_start() {
  say "jobcast-agent: $*" >&2
  exit 2
}

print_help() {
  cat <<'HELP'
Usage: jobcast-agent.sh [flags]          run on a device: execute its jobs, one at a time
       jobcast-agent.sh enroll [flags]   fetch the first token of this device with an enrollment token

Flags:
  --url <url>                      address of the service, for example https://jobs.example (JOBCAST_URL)
  --device <deviceId>              deviceId of this device (JOBCAST_DEVICE)
  --token-file <file>              file with the device token; must not be readable by others (mode 0600) (JOBCAST_TOKEN_FILE)
  --handlers <folder>              folder of handlers, the programs that jobs can run (JOBCAST_HANDLERS)
  --allow-commands                 also run {"command":[...]} documents, that is, any program
  --state <folder>                 folder for the journal and unsent output (JOBCAST_STATE)
  --attributes-file <file>         JSON object of attributes to report (JOBCAST_ATTRIBUTES_FILE)
  --trust <file>                   PEM file with the public keys of authors; signatures by other keys are rejected (JOBCAST_TRUST)
  --require-signature              run only jobs signed by a key of the --trust file
  --require-signatures <number>    run only jobs signed by this many different keys of the --trust file (JOBCAST_REQUIRE_SIGNATURES)
  --audience <name>                run signed jobs only if they were signed for this audience (JOBCAST_AUDIENCE)
  --http                           accepted and ignored: this agent always uses HTTP long polling
  --limit-rate <rate>              fetch files with at most this many bytes per second, for example 500000, 200K or 2M (JOBCAST_LIMIT_RATE)
  --max-output-bytes <number>      maximum output sent per attempt; should match the server (default 10 MiB)
  --help                           print this help
  --version                        print the version
  JOBCAST_DEVICE_TOKEN             the device token itself, instead of --token-file
  JOBCAST_POLL_SECONDS             how often to check whether a running execution was canceled (default 5)
  JOBCAST_BOOT_ID                  in a container: a value that changes with every start of the container

Flags of enroll:
  --url <url>                      address of the service (JOBCAST_URL)
  --device <deviceId>              deviceId of this device (JOBCAST_DEVICE)
  --token-file <file>              file to write the device token to (mode 0600) (JOBCAST_TOKEN_FILE)
  --enrollment-token-file <file>   file with the enrollment token (je_...)
  --name <text>                    name of the device (default: its deviceId)
  JOBCAST_ENROLLMENT_TOKEN         the enrollment token itself, instead of --enrollment-token-file
HELP
}

read_flags() {
  if [ "${1-}" = enroll ]; then enrolls=1 && shift; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --help) print_help && exit 0 ;;
      --version) say $agent_version && exit 0 ;;
      --allow-commands) allow_commands=1 && shift && continue ;;
      --require-signature) requires_one=1 && shift && continue ;;
      --http) shift && continue ;; # it always uses HTTP
      --*=*) flag=${1%%=*} value=${1#*=} && shift ;;
      *)
        [ $# -ge 2 ] || refuse_start "$1 has no value, or is not a flag (see --help)"
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
      --limit-rate)
        [ -n "$value" ] || refuse_start "$wrong_rate"
        limit_rate=$value
        ;;
      --max-output-bytes) max_output=$value ;;
      --attributes-file) attributes_file=$value ;;
      --trust)
        [ -n "$value" ] || refuse_start '--trust must name the file of the keys that are trusted'
        trust=$value
        ;;
      --require-signatures)
        case $value in '' | 0*) refuse_start '--require-signatures must be a positive integer' ;; esac
        required=$value
        ;;
      --audience)
        [ -n "$value" ] || refuse_start '--audience must be a string of 1 to 128 characters without control characters'
        audience=$value
        ;;
      --enrollment-token-file) enrollment_file=$value ;;
      --name) name=$value ;;
      *) refuse_start "unknown flag $flag (see --help)" ;;
    esac
  done
}

# Whether a text is a whole number of at most nine digits. Nothing else may be calculated or compared with: bash and mksh run
# the command in $((x)) if x is `PATH[$(command)]`, and mksh in [ "$x" -gt 0 ] as well. mksh calculates with 32 bits.
is_count() { case $1 in 0 | [1-9]) ;; '' | 0* | *[!0-9]* | ??????????*) return 1 ;; esac; }

# The same for what is only compared as text: up to 15 digits.
is_id() { case $1 in 0 | [1-9]) ;; '' | 0* | *[!0-9]* | ????????????????*) return 1 ;; esac; }

# As curl has it. Less than 4096 would look to both ends as if nothing arrived.
is_rate() {
  case $1 in
    *[KM]) is_count "${1%?}" && [ "${1%?}" -gt 0 ] && { [ "${1#*M}" != "$1" ] || [ "${1%?}" -ge 4 ]; } ;;
    *) is_count "$1" && [ "$1" -ge 4096 ] ;;
  esac
}
wrong_rate='--limit-rate must be a number of bytes per second from 4096 on, such as 500000, 200K or 2M'

check_flags() {
  case $url in http://?* | https://?*) url=${url%/} ;; *) refuse_start '--url must be an address such as https://jobs.example' ;; esac
  case $device in '' | *[!A-Za-z0-9_.:-]*) refuse_start '--device must be the deviceId: letters, digits and _ . : -' ;; esac
  is_count "$max_output" || refuse_start '--max-output-bytes must be a positive integer of at most nine digits'
  [ -z "$limit_rate" ] || is_rate "$limit_rate" || refuse_start "$wrong_rate"
  case $poll_seconds in 0 | '' | *[!0-9]* | ?????*) refuse_start 'JOBCAST_POLL_SECONDS must be a positive integer' ;; esac
  for program in curl awk setsid tail head; do
    command -v "$program" >/dev/null || refuse_start "the program $program is required but not installed"
  done
  (trap '' XFSZ && ulimit -f $max_answer_blocks) 2>/dev/null || refuse_start 'a shell with ulimit -f is needed'
  thing="$url/things/$device"
}

# Awk functions that read JSON (RFC 8259, without NUL) from the text s: T has the type of what is at a path (object, array, string or
# literal), V its value, B and E where its text begins and ends, N how many fields or items it has, K their names. A path is names with
# dots between them; a dot in a name is \001a in it. At most 64 levels and 50,000 values; a name twice is refused.
json_functions='
  function fail() { bad = 1; p = n + 1 }
  # Some versions of awk count from the beginning of the text in each substr.
  function ch() { if (p < begins || p >= begins + 4096) { begins = p; window = substr(s, p, 8192) } return substr(window, p - begins + 1, 1) }
  function ahead(count) { ch(); return substr(window, p - begins + 1, count) }
  function blank() { while (p <= n && index(" \t\r", ch())) p++ }
  function code(  h, i, v) {
    h = tolower(ahead(4)); v = 0
    if (h !~ /^[0-9a-f][0-9a-f][0-9a-f][0-9a-f]$/) { fail(); return 0 }
    for (i = 1; i <= 4; i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
    p += 4
    return v
  }
  function utf8(u) {
    if (u < 128) return sprintf("%c", u)
    if (u < 2048) return sprintf("%c%c", 192 + int(u / 64), 128 + u % 64)
    if (u < 65536) return sprintf("%c%c%c", 224 + int(u / 4096), 128 + int(u / 64) % 64, 128 + u % 64)
    return sprintf("%c%c%c%c", 240 + int(u / 262144), 128 + int(u / 4096) % 64, 128 + int(u / 64) % 64, 128 + u % 64)
  }
  function escaped(  u, v) {
    u = code()
    if (u >= 55296 && u < 56320) {
      if (ahead(2) != "\\u") { fail(); return "" }
      p += 2; v = code()
      if (v < 56320 || v >= 57344) { fail(); return "" }
      u = 65536 + (u - 55296) * 1024 + v - 56320
    } else if (u >= 56320 && u < 57344) fail()
    if (u == 0 || bad) { fail(); return "" }
    return utf8(u)
  }
  function text(  r, c, k) {
    if (ch() != "\"") { fail(); return "" }
    for (p++; p <= n; ) {
      if (match(ahead(256), /^[^"\\\001-\037]+/)) { r = r ahead(RLENGTH); p += RLENGTH; continue }
      c = ch(); p++
      if (c == "\"") return r
      if (c != "\\") break
      c = ch(); p++
      if (c == "u") r = r escaped()
      else if (c != "" && (k = index("\"\\/bfnrt", c))) r = r substr("\"\\/\b\f\n\r\t", k, 1)
      else break
    }
    fail()
    return ""
  }
  function join(path, k) {
    gsub(/\001/, "\001b", k); gsub(/[.]/, "\001a", k)
    return path == "" ? k : path "." k
  }
  function value(path, depth) {
    if (depth > 64 || ++values > 50000 || path in T) { fail(); return }
    blank(); B[path] = p; inner(path, depth); E[path] = p
  }
  function inner(path, depth,  c, i, k) {
    c = ch()
    if (c == "{" || c == "[") {
      T[path] = c == "{" ? "object" : "array"; N[path] = 0; p++; blank()
      if (ch() == (c == "{" ? "}" : "]")) { p++; return }
      for (i = 0; p <= n; i++) {
        blank(); k = i
        if (c == "{") { k = text(); blank(); if (ch() != ":") fail(); p++ }
        value(join(path, k), depth + 1); N[path] = i + 1; K[path, i] = k; blank()
        if (ch() == (c == "{" ? "}" : "]")) { p++; return }
        if (ch() != ",") fail(); p++
      }
      fail()
    } else if (c == "\"") { T[path] = "string"; V[path] = text() }
    else if (match(ahead(64), /^(true|false|null|-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?)/)) { T[path] = "literal"; V[path] = ahead(RLENGTH); p += RLENGTH }
    else fail()
  }
  # A root has a path of its own, so that several texts can be read.
  function read(root, from) {
    s = from; n = length(s); p = 1; begins = n + 1; window = ""
    value(root, 0); blank(); if (p <= n) bad = 1
    S[root] = s
  }
  function raw(root, path) { return substr(S[root], B[path], E[path] - B[path]) }
  # What is not a text counts as its JSON.
  function plain(root, path) { return T[path] == "string" || T[path] == "" ? V[path] : raw(root, path) }
  function quoted(x,  i, count, part, r) {
    count = split(x, part, "\047"); r = part[1]
    for (i = 2; i <= count; i++) r = r "\047\134\047\047" part[i]
    return "\047" r "\047"
  }
  function variable(field, kind) {
    field = toupper(field); gsub(/-/, "_", field)
    return "JOBCAST_" (kind == "" ? "PARAM" : kind) "_" field
  }
'

# Awk functions that read the field `files` of a document, as contract/src/parameters/document-files.ts of the service does: file_ref,
# file_name and file_hash have what it names. A list with entries of another form is not ours.
file_functions='
  function is_hash(path) { return T[path] == "string" && length(V[path]) == 64 && V[path] !~ /[^0-9a-f]/ }
  # What is wrong, or nothing.
  function read_files(list,  i, item, at, name, v, other) {
    file_count = 0
    if (T[list] != "array") return ""
    for (i = 0; i < N[list]; i++) if (T[list "." i] != "string" && T[list "." i ".name"] != "string") return ""
    if (N[list] > 16) return "a document has at most 16 files"
    for (i = 0; i < N[list]; i++) {
      item = list "." i; at = T[item] == "string" ? item : item ".name"
      file_ref[i] = V[at]; file_hash[i] = V[item ".sha256"]
      name = V[at]; sub(/@.*/, "", name); file_name[i] = name; v = substr(V[at], length(name) + 1)
      if (T[item] == "object" && (N[item] > 2 || (N[item] == 2 && !is_hash(item ".sha256"))) || name !~ /^[A-Za-z0-9_-]+$/ || length(name) > 64 || (v != "" && (v !~ /^@[A-Za-z0-9._+-]+$/ || v ~ /^@[.][.]?$/ || length(v) > 65)))
        return "there is no file " substr(raw(substr(list, 1, index(list, ".") - 1), item), 1, 100)
      v = variable(name, "FILE")
      if (v in file_with) return "the files " file_with[v] " and " V[at] " have one environment variable: " v
      file_with[v] = V[at]; file_at[V[at]] = i
    }
    file_count = N[list]
    return ""
  }
'

# Reads JSON and prints shell assignments: json FILE 'name=path ...'. For each, name_type says what there is: object, array,
# string, literal or nothing. `path[]` gives a list of texts as quoted words, `path,` a text with commas as quoted words, `path{}`
# the fields of an object as assignments to JOBCAST_PARAM_<NAME> (of `secrets` to JOBCAST_SECRET_<NAME>), and `path#` how many fields or items there are. Fails if it is
# not JSON. `json FILE '*'` prints every value with its path instead, `json FILE @path` a text itself, or the JSON of something else.
json() {
  tr '\000\n' '\001 ' <"$1" | awk -v want="$2" "$json_functions"'
    function splits(x,  words, word, c, i) {
      for (i = 1; i <= length(x); i++) {
        c = substr(x, i, 1)
        if (c == "\\" && substr(x, i + 1, 1) == ",") { word = word ","; i++ }
        else if (c == ",") { words = words trimmed(word) " "; word = "" }
        else word = word c
      }
      return words trimmed(word)
    }
    function trimmed(x) { gsub(/^[ \t\n\r]+|[ \t\n\r]+$/, "", x); return quoted(x) }
    function line(x) { gsub(/\001/, "\001b", x); gsub(/\n/, "\001n", x); return x }
    { s = s $0 }
    END {
      read("", s)
      if (bad) exit 1
      if (want == "*") { for (path in T) print line(path) "\t" T[path] "\t" N[path] line(V[path]); exit }
      if (sub(/^@/, "", want)) { ORS = ""; print plain("", want); exit }
      for (k = split(want, W, " "); k > 0; k--) {
        at = index(W[k], "="); name = substr(W[k], 1, at - 1); path = substr(W[k], at + 1)
        if (sub(/\[\]$/, "", path)) {
          type = T[path]; words = ""
          for (i = 0; i < N[path]; i++) {
            item = path "." i
            if (T[item] != "string" && (T[item] != "literal" || V[item] == "null")) type = "other"
            words = words quoted(V[item]) " "
          }
          print name "=" quoted(words); print name "_type=" quoted(type)
        } else if (sub(/,$/, "", path)) { print name "=" quoted(splits(V[path])); print name "_type=" quoted(T[path]) }
        else if (sub(/#$/, "", path)) print name "=" N[path] + 0
        else if (sub(/[{][}]$/, "", path)) {
          words = ""
          for (i = 0; i < N[path]; i++) {
            field = K[path, i]
            if (T[path] == "object" && field ~ /^[A-Za-z_][A-Za-z0-9_-]*$/) words = words variable(field, path ~ /[.]secrets$/ ? "SECRET" : "") "=" quoted(plain("", join(path, field))) " "
          }
          print name "=" quoted(words)
        } else { print name "=" quoted(V[path]); print name "_type=" quoted(T[path]) }
      }
      print "json_bad=\047\047"
    }'
}

# parse FILE 'name=path ...': sets these variables, and $json_bad if it is not JSON; they are empty then.
parse() {
  json_bad=1
  set -f
  for each_name in $2; do eval "${each_name%%=*}='' ${each_name%%=*}_type=''"; done
  set +f
  # The names are those in this program, and the values are quoted.
  if assignments=$(json "$1" "$2"); then eval "$assignments"; fi
  assignments=''
}

# As part of a JSON string: without control characters, short.
json_text() {
  text=$(printf '%s' "$1" | tr '\000-\037\177' ' ' | sed 's/["\\]/\\&/g')
  if [ ${#text} -gt 1000 ]; then text=$(printf '%s' "$text" | tr -cd 'A-Za-z0-9 .,:;_/-' | cut -c1-1000); fi
  printf '%s' "$text"
}

# call FILE METHOD PATH [curl arguments]: the body is in FILE, the status in $code; 000 is no answer. The token goes through a
# pipe, because everyone on the machine can read command lines. curl is ended when it has written more than an answer may have:
# --max-filesize holds only where the server says how long it is.
credential=device_credential
call() {
  into=$1 method=$2 path=$3
  shift 3
  rm -f "$into" "$into.code" "$into.head"
  $credential | {
    trap '' XFSZ && ulimit -f $max_answer_blocks && exec curl -sS -K - -X "$method" -o "$into" -D "$into.head" -w '%{http_code}' --proto '=http,https' \
      --connect-timeout 20 --max-time 75 --max-filesize $max_answer "$@" "$thing$path"
  } >"$into.code" 2>"$into.error" &
  # When the agent is to stop, a last report gets three seconds, a long poll none.
  case $path in *wait=*) await $! 0 ;; *) await $! 3 ;; esac
  code=000
  [ "$await_code" != 0 ] || code=$(cat "$into.code" 2>/dev/null)
  case $code in
    000 | 2?? | 5?? | 401 | 403 | 408 | 429) ;;
    [1-9][0-9][0-9]) is_from_service "$into" || code=000 ;;
    *) code=000 ;;
  esac
  if [ "$code" = 000 ] || [ ! -f "$into" ]; then : >"$into"; fi
}

# A refusal without the name of an exception comes from a proxy, and decides nothing: during an update of the service, for example.
is_from_service() {
  [ "$credential" = device_credential ] || return 0
  ! grep -qi '^x-amzn-errortype:' "$1.head" || return 0
  echo "status $code, not from the service" >"$1.error"
  return 1
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
  # The signal has ended the wait, and not what is waited for. Of a process that has been waited for, wait answers 127, also where
  # another one has its number by now.
  while [ "$await_code" -gt 128 ] && kill -0 "$1" 2>/dev/null; do
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

# As a line of a configuration of curl, which can name files to write: nothing but the exact form of a token gets there. Without a
# shell in between, which would have it in a command line where printf is a program.
device_credential() {
  if [ -z "$token_file" ]; then
    credential_from JOBCAST_DEVICE_TOKEN jd
  elif is_private "$token_file"; then
    sed -n '1{$s/^[[:space:]]*\(jd_[0-9A-Za-z]\{48\}\)[[:space:]]*$/header = "Authorization: Bearer \1"/p;}' "$token_file"
  else
    say "others can read the token file $token_file: chmod 600 $token_file" >&2
  fi
}

enrollment_credential() {
  if [ -n "$enrollment_file" ]; then
    sed -n '1{$s/^[[:space:]]*\(je_[0-9A-Za-z]\{48\}\)[[:space:]]*$/header = "Authorization: Bearer \1"/p;}' "$enrollment_file"
  else
    credential_from JOBCAST_ENROLLMENT_TOKEN je
  fi
}

credential_from() {
  awk -v name="$1" -v prefix="$2" 'BEGIN {
    token = ENVIRON[name]
    if (length(token) == 51 && token ~ ("^" prefix "_[0-9A-Za-z]+$")) print "header = \"Authorization: Bearer " token "\""
  }'
}

is_private() { case $(ls -ldL "$1") in -???------*) ;; *) return 1 ;; esac; }

# The same until the server has decided, for days if necessary. Fails only when the agent is to stop.
call_until_answered() {
  delay=1
  while :; do
    call "$@"
    if [ -n "$stopping" ] && [ "$code" = 000 ]; then return 1; fi
    case $code in
      000 | 408 | 429 | 5??) note_connection "no connection to $url: $(head -n 1 "$1.error") $code" ;;
      401 | 403) note_connection "sign-in refused by $url. Retrying; the token file is read again each time" ;;
      *)
        parse "$1" ''
        if [ -z "$json_bad" ]; then note_connection "connected to $url" && return 0; fi
        note_connection "the answer of $url is not JSON ($code)"
        ;;
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
  for each in "$state" "$state/executions"; do
    is_own "$each" || refuse_start "Others can write to the state folder $each, or own it: chown it to the agent's user, and chmod 700 $each"
  done
  syncs_one=''
  if sync -f "$state" 2>/dev/null; then syncs_one=1; fi
  take_lock
  boot=${JOBCAST_BOOT_ID:-$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown)}
  agent=$(cat "$state/agent" 2>/dev/null)
  case $agent in
    '' | *[!0-9a-f]*)
      random_id >"$state/agent.new" && mv "$state/agent.new" "$state/agent" && on_disk "$state"
      agent=$(cat "$state/agent")
      ;;
  esac
  touch "$state/settled"
}

# Whether nobody else can put files into a folder: owned by the agent's user or root, writable by the owner only.
is_own() {
  listed=$(ls -ldn "$1")
  case $listed in d????-??-*) ;; *) return 1 ;; esac
  owner=$(printf '%s\n' "$listed" | awk '{ print $3 }')
  [ "$owner" = 0 ] || [ "$owner" = "$(id -u)" ]
}

random_id() { od -An -N6 -tx1 /dev/urandom | tr -d ' \n'; }

# Only one agent may use a state folder. The file names the process that holds it and when that was started.
take_lock() {
  holder="$$ $(started_at $$)"
  while ! (set -C && printf '%s\n' "$holder" >"$state/lock") 2>/dev/null; do
    read -r pid at <"$state/lock" || { pid='' at=''; }
    if is_id "$pid" && [ "$(started_at "$pid")" = "$at" ]; then
      refuse_start "Another agent is running with the state folder $state."
    fi
    rm -f "$state/lock"
  done
  trap 'rm -f "$state/lock"' EXIT
}

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

check_handlers() {
  [ -d "$handlers" ] || refuse_start "--handlers must name a folder: \"$handlers\" does not exist"
  handlers=$(cd "$handlers" && pwd)
  case $(ls -ld "$handlers") in
    ????????w*) refuse_start "Everyone can write to the folder of handlers $handlers: chmod o-w $handlers" ;;
    ?????w*) say "a group can write to the folder of handlers $handlers: chmod g-w $handlers" ;;
  esac
}

# What is known about an attempt: $start, $id, $booted, $queued_before, $reruns. It is read, and not sourced.
read_started() {
  start=0 id='' booted='' queued_before='' reruns=''
  [ -f "$1/started" ] || return 0
  while IFS='=' read -r field value; do
    case $field in
      start) if is_count "$value"; then start=$value; fi ;;
      id) case $value in *[!0-9a-f]*) ;; *) id=$value ;; esac ;;
      booted) booted=$value ;;
      queued_before) if is_id "$value"; then queued_before=$value; fi ;;
      reruns) if [ "$value" = 1 ]; then reruns=1; fi ;;
    esac
  done <"$1/started"
}

# The final report. It is on disk before it is sent.
write_outcome() { # folder attempt status reason more-details
  reason=''
  [ -z "$4" ] || reason=",\"reason\":\"$(json_text "$4")\""
  result=''
  if [ -s "$1/result.json" ]; then
    if [ "$(size_of "$1/result.json")" -gt 65536 ]; then
      reason="$reason,\"resultProblem\":\"the result is larger than 64 KiB\""
    elif parse "$1/result.json" 'root=' && [ -n "$json_bad" ]; then
      reason="$reason,\"resultProblem\":\"the result is not JSON\""
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

# In bytes; more than nine digits are too many for the arithmetic of mksh.
size_of() {
  bytes=$({ wc -c <"$1" || echo 0; } 2>/dev/null | tr -cd 0-9)
  if is_count "$bytes"; then echo "$bytes"; else echo 999999999; fi
}

# Sends what the server does not have yet, from byte $offset on. Fails if the attempt is over, or output is not wanted. A server
# that takes too little of each piece, or wants the same again and again, does not hold up the agent.
send_output() { # file folder job attempt [call_until_answered]
  rounds=0
  while size=$(size_of "$2/output") && [ "$size" -gt "$offset" ] && [ ! -f "$2/cut" ] && [ "$rounds" -le $((size / 16384 + 16)) ]; do
    rounds=$((rounds + 1))
    tail -c "+$((offset + 1))" "$2/output" | head -c 65536 >"$1.piece"
    ${5:-call} "$1" POST "/jobs/$3/output?offset=$offset&executionNumber=$4" -H 'Content-Type: application/octet-stream' --data-binary "@$1.piece" ||
      return 1
    case $code in
      000 | 408 | 429 | 5?? | 401 | 403) return 0 ;;
    esac
    parse "$1" 'wanted=offset cut=cut'
    if ! is_count "$wanted" || [ "$cut" = true ] || [ "$wanted" = "$offset" ]; then : >"$2/cut" && break; fi
    offset=$wanted
  done
  # More than the server takes does not fill the disk.
  if [ "$size" -gt $((max_output + 1048576)) ]; then : >"$2/cut" && : >"$2/output"; fi
}

# Delivers the rest of the output and the outcome, then deletes the attempt. Fails when the agent is to stop first.
report() { # folder job attempt
  offset=0
  send_output "$tmp" "$1" "$2" "$3" call_until_answered || return 1
  call_until_answered "$tmp" POST "/jobs/$2" -H 'Content-Type: application/json' --data-binary "@$1/outcome" || return 1
  parse "$tmp" 'now=executionState.status message=message'
  if [ "$code" = 400 ] || { [ "$code" = 409 ] && [ "$now" = IN_PROGRESS ]; }; then
    # A report with less in it is better than none: otherwise the execution would stay in progress.
    ended=SUCCEEDED
    grep -q '^{"status":"SUCCEEDED"' "$1/outcome" || ended=FAILED
    body="{\"status\":\"$ended\",\"executionNumber\":$3,\"statusDetails\":{\"agent\":\"$agent\",\"reason\":\"its report was refused: $(json_text "$message")\"}}"
    call_until_answered "$tmp" POST "/jobs/$2" -H 'Content-Type: application/json' --data-binary "$body" || return 1
  fi
  case $code in
    2??) say "execution $2, attempt $3: reported" ;;
    *) say "execution $2, attempt $3: report refused: $message" ;;
  esac
  settle "$1"
}

settle() {
  read_started "$1"
  # What could not run now is started again when the server hands it out: the last number is how long it asked to wait.
  waits=$(sed -n 's/^{"status":"REJECTED".*"retryAfterSeconds":"\([0-9]*\)".*/ \1/p' "$1/outcome" 2>/dev/null)
  list=$state/settled
  [ -z "$waits" ] || list=$state/not-now
  printf '%s %s%s\n' "${1##*/}" "$queued_before" "$waits" >>"$list"
  if [ "$(wc -l <"$list")" -gt 2000 ]; then
    tail -n 1000 "$list" >"$list.new" && mv "$list.new" "$list"
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
    if ! is_id "$job" || ! is_count "$attempt"; then rm -rf "$folder" && continue; fi
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

purge_others() {
  for each in "$state"/executions/*.*; do
    if [ -d "$each" ] && [ "${each##*/}" != "$1" ]; then settle "$each"; fi
  done
}

# Decides what becomes of the execution that the server hands out: $job, $attempt, $queued, $version, $begun_by; its answer is in $tmp.
carry_out() {
  folder=$state/executions/$job.$attempt
  purge_others "$job.$attempt"
  read_started "$folder"
  # Another service, or one with a new database, uses the same numbers.
  if [ "$start" != 0 ] && [ "$queued_before" != "$queued" ]; then settle "$folder" && read_started "$folder"; fi
  resumed='' first_step=0
  mkdir -p "$folder/work"
  cp "$tmp" "$folder/handed"
  if [ "$start" = 0 ]; then
    if [ "$begun_by" != "$agent" ] || grep -qxF "$job.$attempt $queued" "$state/settled"; then
      finish FAILED "interrupted: the agent ${begun_by:-another} has already started it as this device, and it is not started twice"
      return
    fi
  elif is_rebooting "$folder"; then
    if [ "$(sed -n 2p "$folder/rebooting")" = "$boot" ]; then wait_for_reboot && return; fi
    resumed=1 first_step=$(sed -n 3p "$folder/rebooting")
    is_count "$first_step" || first_step=0
  elif [ -z "$reruns" ] || [ "$start" -ge $max_starts ]; then
    finish FAILED 'interrupted: the agent stopped while it ran'
    return
  fi
  if trusts; then plan || return; else refuse_job && return; fi
  fetch_files || return
  run_steps
  report_attributes
}

finish() { # status reason more-details
  write_outcome "$folder" "$attempt" "$1" "$2" "${3-}$(starts_detail)"
  report "$folder" "$job" "$attempt"
}

# Checks all steps before the first one starts, and sets $step_count, $limit and $reruns, or ends the attempt without starting it.
plan() {
  parse "$folder/document" 'root= handler=handler command=command steps=steps listed=steps# schema=version final=finalStep conditions=conditions condition_count=conditions# limit=timeoutSeconds on=onInterrupt'
  reruns='' problem='' step_count=1
  if [ -n "$json_bad" ] || [ "$root_type" != object ]; then
    problem='the document is not a JSON object, or has a NUL character in it'
  else
    case ${handler_type:+1}${command_type:+1}${steps_type:+1} in
      11*) problem='the document names more than one of handler, command and steps' ;;
      '') problem='the document names neither a handler nor a command nor steps' ;;
    esac
  fi
  [ -n "$problem" ] || list_files
  if [ -z "$problem" ] && [ -n "$steps_type" ]; then count_steps; fi
  check_limit
  case $on in '' | report) ;; rerun) reruns=1 ;; *) problem='onInterrupt is neither "report" nor "rerun"' ;; esac
  planned=0
  while [ -z "$problem" ] && [ "$planned" -lt "$step_count" ]; do
    find_step "$planned"
    planned=$((planned + 1))
  done
  [ -n "$problem" ] || return 0
  refuse_job
  return 1
}

# What has begun once can only fail.
refuse_job() { if [ "$start" = 0 ]; then finish REJECTED "$problem"; else finish FAILED "$problem"; fi; }

# Puts a line for each file of the document into $folder/files: its name, its variable, its SHA-256 and its size; and one with its URL
# into $folder/urls, for curl. Otherwise it sets $problem. What is signed must name the hashes.
list_files() {
  rm -f "$folder/files" "$folder/urls"
  assignments=$({
    tr '\000\n' '\001 ' <"$folder/document" && echo
    tr '\000\n' '\001 ' <"$folder/handed" && echo
  } | files_to=$folder/files urls_to=$folder/urls is_signed=$by_author awk "$json_functions$file_functions"'
    function refuse(x) { if (refused == "") refused = x }
    { given_text[NR] = $0 }
    END {
      read("document", given_text[1]); read("handed", given_text[2])
      if (bad || NR != 2) exit 1
      refuse(read_files("document.files"))
      for (i = 0; i < file_count && refused == ""; i++) {
        ref = file_ref[i]; facts = join("handed.execution.files", ref)
        url = V[facts ".url"]; size = V[facts ".size"]; sha256 = V[facts ".sha256"]
        if (T[facts ".url"] != "string" || url !~ /^https?:\/\/[!-~]+$/ || url ~ /["\\]/ || length(url) > 8192) refuse("the server sent no URL of the file " ref)
        else if (T[facts ".size"] != "literal" || size !~ /^(0|[1-9][0-9]*)$/ || length(size) > 15) refuse("the server sent no size of the file " ref)
        else if (!is_hash(facts ".sha256")) refuse("the server sent no sha256 of the file " ref)
        else if (ENVIRON["is_signed"] && file_hash[i] == "") refuse("the signed document does not name the sha256 of the file " ref)
        else if (file_hash[i] != "" && file_hash[i] != sha256) refuse("the file " ref " of the server has another sha256 than the document names")
        print file_name[i], variable(file_name[i], "FILE"), sha256, size >ENVIRON["files_to"]
        print "url = \"" url "\"" >ENVIRON["urls_to"]
      }
      print "problem=" quoted(refused)
    }') || assignments="problem='the agent cannot read the files of the document'"
  eval "$assignments"
  assignments=''
  if [ -z "$problem" ] && [ -s "$folder/files" ] && [ -z "$(hash_of "$folder/files")" ]; then
    problem='files need the program sha256sum, which is not on this device'
  fi
}

# Empty if it cannot be read.
hash_of() { { sha256sum <"$1" || openssl dgst -sha256 -r <"$1"; } 2>/dev/null | cut -c1-64; }

# Fetches what $folder/files lists, and puts it into the folder of the handler. Otherwise the attempt has ended, or is handed out again.
fetch_files() {
  [ -s "$folder/files" ] || return 0
  rm -f "$folder/ending"
  fetching=0 file_count=$(wc -l <"$folder/files" | tr -cd 0-9)
  while [ "$fetching" -lt "$file_count" ]; do
    fetching=$((fetching + 1))
    read -r file_name file_variable file_hash file_size <<LINE
$(sed -n "${fetching}p" "$folder/files")
LINE
    problem='' fetch_end=FAILED kept=$state/files/$file_hash
    if ! mkdir -p "$state/files" || ! fetch_file || ! place_file; then
      end_fetch
      return 1
    fi
  done
  expired_of='' expired_times=0
}

end_fetch() {
  case $fetch_end in
    stopping) ;; # it is handed out again when the agent is back
    expired)
      # Asked for again, the document has new URLs; unless the server does not accept its own.
      if [ "$expired_of" = "$job.$attempt" ]; then expired_times=$((expired_times + 1)); else expired_of=$job.$attempt expired_times=1; fi
      [ "$expired_times" -le 5 ] || finish FAILED 'the server does not accept its own URLs of files'
      ;;
    withdrawn) say "execution $job, attempt $attempt: already ended on the server" && settle "$folder" ;;
    canceled) finish CANCELED 'canceled before it was started' ;;
    REJECTED) problem="the file $file_name $problem" && refuse_job ;;
    *) finish FAILED "the file $file_name $problem" ;;
  esac
}
expired_of='' expired_times=0

# From what is kept, or over as many connections as it takes.
fetch_file() {
  part=$kept.part
  if [ -f "$kept" ]; then
    # Checked each time: a handler could have changed it.
    if [ "$(hash_of "$kept")" = "$file_hash" ]; then touch "$kept" && return 0; fi
    rm -f "$kept"
  fi
  make_room
  has_space || { rm -f "$part" && problem='does not fit on the disk' && return 1; }
  while :; do
    began=''
    [ ! -s "$part" ] || began=1
    if ! download; then
      case $fetch_end in FAILED | REJECTED) rm -f "$part" ;; esac
      return 1
    fi
    if [ "$(hash_of "$part")" = "$file_hash" ]; then mv "$part" "$kept" && return 0; fi
    rm -f "$part"
    # What was left of an earlier try may be damaged: a machine that lost its power. All of it is fetched once more.
    [ -n "$began" ] || { problem='has other content than its sha256 says' fetch_end=REJECTED && return 1; }
  done
}

download() {
  failures=0 delay=1 for_seconds="--max-time $fetch_seconds"
  blocks=$(awk -v size="$file_size" 'BEGIN { printf "%d", size / 512 + 2 }')
  while :; do
    had=$(bytes_of "$part")
    if [ "$had" = "$file_size" ]; then return 0; fi
    if is_more "$had" "$file_size"; then rm -f "$part" && had=0; fi
    request_file
    [ -z "$stopping" ] || { fetch_end=stopping && return 1; }
    has=$(bytes_of "$part")
    case $await_code:$code in
      0:*) return 0 ;;
      22:403) fetch_end=expired && return 1 ;;
      22:408 | 22:429 | 22:5??) ;;
      22:*) problem="the server answers $code" && return 1 ;;
      # It sends all of it only.
      33:*) rm -f "$part" && for_seconds='' && has=0 ;;
      23:*)
        if is_more "$has" "$file_size"; then
          problem='has other content than its sha256 says' fetch_end=REJECTED
        else
          problem='cannot be stored: the disk is full, or cannot be written'
        fi
        return 1
        ;;
      1:* | 3:* | 47:*) problem='cannot be fetched: the server redirects to where nothing is fetched from' && return 1 ;;
    esac
    # Where it begins anew each time, what has come is no progress.
    if [ -n "$for_seconds" ] && is_more "$has" "$had"; then failures=0 delay=1; else failures=$((failures + 1)); fi
    if [ "$failures" -gt $max_fetch_tries ]; then
      problem="cannot be fetched: $(head -n 1 "$folder/fetched.error") $code"
      return 1
    fi
    find_ending "$tmp"
    if [ -n "$ending" ]; then fetch_end=$ending && return 1; fi
    report_fetched
    if [ "$failures" != 0 ]; then pause "$delay" && delay=$((delay < 16 ? delay * 2 : 30)); fi
    [ -z "$stopping" ] || { fetch_end=stopping && return 1; }
  done
}

# The URL lets in whoever has it, and everyone on the machine can read command lines.
request_file() {
  protocols='=http,https'
  case $(sed -n "${fetching}p" "$folder/urls") in 'url = "https:'*) protocols='=https' ;; esac
  sed -n "${fetching}p" "$folder/urls" | {
    # shellcheck disable=SC2086 # words
    trap '' XFSZ && ulimit -f "$blocks" && exec curl -sS -f -g -K - -L --max-redirs 5 --proto '=http,https' --proto-redir "$protocols" \
      -C - -o "$part" -w '%{http_code}' --connect-timeout 20 --speed-limit 1 --speed-time 60 $for_seconds ${limit_rate:+--limit-rate $limit_rate}
  } >"$folder/fetched.code" 2>"$folder/fetched.error" &
  await $! 0
  code=$(cat "$folder/fetched.code" 2>/dev/null)
  case $code in [1-9][0-9][0-9]) ;; *) code=000 ;; esac
}

# What takes longer shows how far it is.
report_fetched() {
  percent=$(awk -v has="$has" -v size="$file_size" -v before=$((fetching - 1)) -v files="$file_count" 'BEGIN { printf "%d", 100 * (before + (size ? has / size : 1)) / files }')
  call "$tmp" POST "/jobs/$job" -H 'Content-Type: application/json' --data-binary \
    "{\"status\":\"IN_PROGRESS\",\"executionNumber\":$attempt,\"includeJobExecutionState\":true,\"statusDetails\":{\"agent\":\"$agent\",\"progress\":\"$percent\",\"message\":\"fetching files\"}}"
  adopt_version "$tmp"
}

# The version of its report becomes the agent's own, unless somebody else has made one in between: find_ending is to see that.
adopt_version() { # file
  parse "$1" 'seen=executionState.versionNumber'
  if ! is_id "$seen"; then seen=''; fi
  if [ -z "$seen" ] || [ -z "$version" ] || awk -v seen="$seen" -v known="$version" 'BEGIN { exit !(seen + 0 <= known + 1) }'; then
    version=$seen
  fi
}

# Files may be larger than some shells can calculate with.
bytes_of() { { wc -c <"$1" || echo 0; } 2>/dev/null | tr -cd 0-9; }
is_more() { awk -v one="$1" -v other="$2" 'BEGIN { exit !(one + 0 > other + 0) }'; }

# For a handler: without a second copy where the file system can.
place_file() {
  rm -f "$folder/work/$file_name"
  ln "$kept" "$folder/work/$file_name" 2>/dev/null || cp "$kept" "$folder/work/$file_name" 2>/dev/null && return 0
  rm -f "$folder/work/$file_name"
  problem='cannot be stored: the disk is full, or cannot be written'
  return 1
}

# What was used longest ago goes first; what this attempt needs stays.
make_room() {
  ls -lnt "$state/files" | awk -v total="$file_size" -v most=$max_kept_bytes -v needed="$(cut -d ' ' -f 3 "$folder/files" | tr '\n' ' ')" '
    NF >= 9 { total += $5; if (total > most && $9 ~ /^[0-9a-f]+([.]part)?$/ && !index(needed, substr($9, 1, 64))) print $9 }' |
    while read -r old; do rm -f "$state/files/$old"; done
}

# Leaves 64 MiB free, or a twentieth of a small disk: the server says how large a file is, and no author has signed that. Where df does
# not tell, curl finds out.
has_space() {
  df -P -k "$state/files" 2>/dev/null | awk -v size="$file_size" -v had="$(bytes_of "$part")" '
    NR == 2 {
      for (i = 4; i < NF && $i !~ /^[0-9]+%$/; i++);
      if (i == NF) exit
      reserve = $(i - 3) / 20; if (reserve > 65536) reserve = 65536
      full = $(i - 1) - reserve < (size - had) / 1024
    }
    END { exit full + 0 }'
}

# Documents in the schema of AWS.
count_steps() {
  step_count=$listed
  [ -z "$final_type" ] || step_count=$((step_count + 1))
  if [ "$schema_type $schema" != 'string 1.0' ]; then
    problem='version is not "1.0", the only one this agent supports'
  elif [ -n "$conditions_type" ] && [ "$conditions_type $condition_count" != 'array 0' ]; then
    problem='this agent does not support conditions'
  elif [ "$steps_type" != array ] || [ "$listed" = 0 ]; then
    problem='steps is not a list of steps'
  elif [ "$step_count" -gt $max_steps ]; then
    problem="jobcast-agent.sh runs at most $max_steps steps"
  fi
}

# Whole seconds, at least one.
check_limit() {
  [ -n "$limit_type" ] || return 0
  case $limit in *.*[!0-9]*) whole='' ;; *) whole=${limit%%.*} ;; esac
  if [ "$limit_type" != literal ] || ! is_count "$whole" || [ "$whole" -gt 31536000 ] || case $limit in *[1-9]*) false ;; esac then
    problem='timeoutSeconds is not a number of seconds above 0, up to a year'
  fi
  limit=$whole
  if [ "$limit" = 0 ]; then limit=1; fi
}

# Sets $step_name, $program (empty: the first of $words), $words, $allow_stderr and $ignore_failure of a step, or $problem.
find_step() { # number
  program='' words='' allow_stderr='' ignore_failure='' at='' at_type=''
  if [ -n "$steps_type" ]; then
    find_action "$1"
  else
    parse "$folder/document" 'handler=handler args=args[] command=command[]'
    step_name=$handler
    if [ -n "$handler_type" ]; then plan_handler ''; else plan_command ''; fi
  fi
  [ -n "$problem" ] || step_name=$(printf '%s' "$step_name" | tr '\000-\037\177' ' ' | cut -c 1-1000)
}

find_action() { # number
  where="step $(($1 + 1))" action=steps.$1.action
  if [ "$1" = "$listed" ]; then action=finalStep.action; fi
  parse "$folder/document" "step_name=$action.name type=$action.type user=$action.runAsUser allowed=$action.allowStdErr ignored=$action.ignoreStepFailure input=$action.input handler=$action.input.handler args=$action.input.args[] at=$action.input.path command=$action.input.command[] listed_command=$action.input.command,"
  case $step_name_type in '' | string) ;; *) problem="the name of $where is not a string" ;; esac
  [ -n "$step_name" ] || step_name=$where
  if [ "$input_type" != object ]; then
    problem="$where has no action with an input"
  elif [ -n "$user_type" ] && [ "$user_type" != string ]; then
    problem="runAsUser of $where is not a string"
  elif [ -n "$user" ] && [ "$user" != "$(id -un)" ]; then
    problem="$where must run as $user, but this agent runs as $(id -un)"
  fi
  case $ignored_type:$ignored in
    : | *:false) ;;
    string:true | literal:true) ignore_failure=1 ;;
    *) problem="ignoreStepFailure of $where is neither true nor false" ;;
  esac
  if [ -n "$allowed_type" ]; then
    is_count "$allowed" || problem="allowStdErr of $where is not an integer"
    command -v mkfifo >/dev/null || problem="allowStdErr of $where needs the program mkfifo, which is not on this device"
    allow_stderr=$allowed
  fi
  case $type_type:$type in
    string:runHandler) plan_handler " of $where" ;;
    string:runCommand)
      if [ "$command_type" != array ] && [ "$listed_command_type" = string ]; then command=$listed_command command_type=array; fi
      plan_command " of $where"
      ;;
    *) : "${problem:=the type of $where is neither runHandler nor runCommand}" ;;
  esac
}

plan_handler() { # of-which-step
  [ -z "$problem" ] || return 0
  words=$args
  case $at_type:${at%/} in
    : | string: | string:default) ;;
    string:*) [ "${at%/}" = "$handlers" ] || problem="$where names the folder $at; this agent uses only its own handlers folder" ;;
    *) problem="path$1 is not a string" ;;
  esac
  if [ "$handler_type" != string ]; then
    problem="handler$1 is not a string"
  elif case $args_type in '' | array) false ;; esac then
    problem="args$1 is not a list of strings"
  fi
  [ -n "$problem" ] || find_handler
}

plan_command() { # of-which-step
  [ -z "$problem" ] || return 0
  words=$command
  if [ "$command_type" != array ]; then
    problem="command$1 is not a list of strings"
  elif [ -z "$allow_commands" ]; then
    problem='commands are not allowed on this device (its agent runs without --allow-commands)'
  else
    eval "set -- $words"
    # setsid would take it for an option of its own.
    case ${1-} in '' | -*) problem='the command has no name, or one that begins with -' ;; esac
    [ -n "$at" ] || [ -n "$steps_type" ] || step_name=${1-}
  fi
}

# A setting that is there and says nothing, or is misspelled, would switch a check off that somebody wanted.
check_trust() {
  [ -n "${JOBCAST_TRUST-unset}" ] || refuse_start 'JOBCAST_TRUST is empty'
  [ -n "${JOBCAST_AUDIENCE-unset}" ] || refuse_start 'JOBCAST_AUDIENCE is empty'
  case ${JOBCAST_REQUIRE_SIGNATURES-1} in
    '') refuse_start 'JOBCAST_REQUIRE_SIGNATURES is empty' ;;
    0*) refuse_start '--require-signatures must be a positive integer' ;;
  esac
  [ -z "${JOBCAST_REQUIRE_SIGNATURE+set}" ] ||
    refuse_start 'JOBCAST_REQUIRE_SIGNATURE is not a setting; set JOBCAST_REQUIRE_SIGNATURES=1'
  is_count "$required" || refuse_start '--require-signatures must be a positive integer'
  if [ -n "$requires_one" ] && [ "$required" = 0 ]; then required=1; fi
  if [ -z "$trust" ]; then
    [ "$required" = 0 ] || refuse_start '--trust must name the file of the keys that are trusted'
    [ -z "$audience" ] || refuse_start '--audience needs --trust: only what is signed names its audience'
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
  if grep -q 'PRIVATE KEY-----' "$trust" 2>/dev/null; then problem='contains a private key; a device needs only the public keys of authors'; fi
  [ -z "$problem" ] || return 1
  awk -v to="$tmp.keys/part" '
    /^-----BEGIN PUBLIC KEY-----/ { n++; on = 1 }
    on { print > (to n) }
    /^-----END PUBLIC KEY-----/ { on = 0; close(to n) }' "$trust"
  for part in "$tmp.keys"/part*; do
    [ -f "$part" ] || { problem='contains no public key (-----BEGIN PUBLIC KEY-----)' && return 1; }
    openssl pkey -pubin -in "$part" -noout -text 2>/dev/null | grep -qi '^ED25519' || { problem='contains a key that is not an Ed25519 key' && return 1; }
    key_id=$(openssl pkey -pubin -in "$part" -outform DER | openssl dgst -sha256 -r | cut -c1-64)
    mv "$part" "$tmp.keys/$key_id.pem"
  done
}

# Puts what is to run into $folder/document: what the server says, or on a device that trusts authors, what they have signed.
# Sets $parameters, with the secrets. Otherwise it fails with $problem.
trusts() {
  problem='' parameters='' by_author=''
  parse "$folder/handed" 'job_name=execution.jobName signature=execution.jobSignature signature_kind=execution.jobSignature.payloadType signature_count=execution.jobSignature.signatures#'
  json "$folder/handed" @execution.jobDocument >"$folder/offered"
  if [ -z "$trust" ] || { [ -z "$signature_type" ] && [ "$required" = 0 ]; }; then
    cp "$folder/offered" "$folder/document"
    parse "$folder/handed" 'parameters=execution.parameters{} secrets=execution.secrets{}'
    parameters="$parameters$secrets"
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
  if is_signed && is_allowed; then by_author=1 && return 0; fi
  problem="not trusted: $problem"
  return 1
}

# decode PATH: standard or URL-safe base64 in the answer of the server.
decode() { { json "$folder/handed" "@execution.jobSignature.$1" | tr '_-' '/+' | tr -cd 'A-Za-z0-9+/=' | fold -w 64 && echo; } | openssl base64 -d 2>/dev/null; }

# Whether enough different keys have signed the payload, which is then in $folder/payload (DSSE).
is_signed() {
  decode payload >"$folder/payload"
  size=$(size_of "$folder/payload")
  if [ "$signature_kind" != $envelope_type ] || [ "$size" = 0 ] || [ "$size" -gt 98304 ]; then
    problem="its signature is not an envelope of type $envelope_type"
    return 1
  fi
  { printf 'DSSEv1 %s %s %s ' ${#envelope_type} $envelope_type "$size" && cat "$folder/payload"; } >"$folder/signed"
  rm -f "$folder"/signature.*
  index=0
  while [ "$index" -lt "$signature_count" ] && [ "$index" -lt 10 ]; do
    decode "signatures.$index.sig" >"$folder/signature.$index"
    [ "$(size_of "$folder/signature.$index")" = 64 ] || rm "$folder/signature.$index"
    index=$((index + 1))
  done
  signers=0
  for key in "$tmp.keys"/*.pem; do
    for each in "$folder"/signature.*; do
      if openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$folder/signed" -sigfile "$each" >/dev/null 2>&1; then
        signers=$((signers + 1))
        break
      fi
    done
  done
  needed=$((required > 0 ? required : 1))
  if [ $signers -lt $needed ]; then
    problem="it is signed by $signers of the keys that this device trusts, but $needed are required"
    [ "$signers" != 0 ] || problem='it is not signed by a key that this device trusts'
    return 1
  fi
}

# Whether what was signed is this job, for this device, may still run, and is something that this agent can do. What it cannot, it
# refuses.
is_allowed() {
  parse "$folder/payload" 'fields=# signed_name=jobName signed_version=version signed=document schema=parameters until=notAfter signed_for=audience'
  known=3
  for each in "$until_type" "$schema_type" "$signed_for_type"; do [ -z "$each" ] || known=$((known + 1)); done
  if [ -n "$json_bad" ] || [ "$signed_type" != object ] || [ "$signed_name_type" != string ]; then
    problem='what was signed is not a job'
  elif ! is_id "$signed_version" || [ "$signed_version" = 0 ]; then
    problem='what was signed has no version'
  elif [ "$fields" != $known ]; then
    problem='what was signed has fields that jobcast-agent.sh does not know'
  elif [ "$signed_name" != "$job_name" ]; then
    problem="the signature is for the job \"$signed_name\", but this is the job \"$job_name\""
  elif ! is_for_this_device; then
    : # $problem says why
  elif ! is_in_time; then
    problem="the signature expired at $until"
  elif ! is_newest; then
    : # $problem says why
  elif ! fill_document; then
    : # $problem says why
  elif [ -z "$uses_attributes" ] && ! is_same; then
    problem='the server sent a document that differs from the signed one'
  else
    note_version && return
    problem='the agent cannot write to its disk'
  fi
  return 1
}

# Otherwise what was signed for another service, or another owner, would run here, and its version would block the genuine ones.
is_for_this_device() {
  case $signed_for_type in '' | string) ;; *) problem='the audience that was signed is not a string' && return 1 ;; esac
  if [ -z "$audience" ] || [ "$signed_for_type:$signed_for" = "string:$audience" ]; then return 0; fi
  if [ -z "$signed_for_type" ]; then
    problem="it is signed without an audience, and this device runs only jobs signed for \"$audience\""
  else
    problem="it is signed for the audience \"$signed_for\", and this device runs only jobs signed for \"$audience\""
  fi
  return 1
}

# What runs is what was signed anyway. But a server that says something else is broken or taken, and its owner is to know.
is_same() { [ "$(json "$folder/offered" '*' | sort)" = "$(json "$folder/document" '*' | sort)" ]; }

# Both are texts of the same form, so they compare like the instants.
is_in_time() {
  [ -n "$until_type" ] || return 0
  case $until_type:$until in
    string:[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z) ;;
    *) return 1 ;;
  esac
  awk -v now="$(date -u +%Y-%m-%dT%H:%M:%SZ)" -v until="$until" 'BEGIN { exit !(now "" <= until "") }'
}

# Nobody can go back to a version that its author has replaced, and a version is one content: otherwise whoever has two signed ones
# could choose.
is_newest() {
  seen_file=$state/versions/$(printf '%s' "$signed_name" | openssl dgst -sha256 -r | cut -c1-64)
  content=$(openssl dgst -sha256 -r "$folder/payload" | cut -c1-64)
  seen=0 seen_content=''
  if [ -e "$seen_file" ]; then read -r seen seen_content <"$seen_file"; fi
  if ! is_id "$seen"; then
    problem="the file $seen_file is damaged"
  elif awk -v one="$signed_version" -v other="$seen" 'BEGIN { exit !(one + 0 < other + 0) }'; then
    problem="its version $signed_version is older than version $seen, which this device has accepted"
  elif [ "$signed_version" = "$seen" ] && [ -n "$seen_content" ] && [ "$seen_content" != "$content" ]; then
    problem="its version $seen differs from the version $seen that this device has accepted"
  else
    return 0
  fi
  return 1
}

# On disk before the job is started.
note_version() {
  [ "$signed_version $content" != "$seen $seen_content" ] || return 0
  printf '%s %s\n' "$signed_version" "$content" >"$seen_file.new" && mv "$seen_file.new" "$seen_file" && on_disk "$seen_file"
}

# Awk functions that judge values by the schema of parameters, as contract/src/parameters of the service does. A keyword that they do
# not know refuses everything.
parameter_functions='
  function is_plain_number(path) { return T[path] == "literal" && V[path] ~ /^-?[0-9]/ && V[path] + 0 > -1.7e308 && V[path] + 0 < 1.7e308 }
  function is_whole(path) { return is_plain_number(path) && V[path] + 0 == int(V[path] + 0) && V[path] + 0 <= 9007199254740991 && V[path] + 0 >= -9007199254740991 }
  function is_flag(path) { return V[path] == "true" || V[path] == "false" ? T[path] == "literal" : 0 }
  # The first name that is not in the list.
  function stranger(path, list,  i) {
    for (i = 0; i < N[path]; i++) if (K[path, i] !~ /^[$A-Za-z]+$/ || !index(" " list " ", " " K[path, i] " ")) return K[path, i]
    return ""
  }
  function deep(path,  i, r) {
    if (T[path] != "array") return T[path] ":" length(V[path]) ":" V[path]
    for (i = 0; i < N[path]; i++) r = r "," deep(path "." i)
    return "[" r "]"
  }
  function characters(x) { gsub(/[\200-\277]/, "", x); return length(x) }
  function check_schema(path,  i, name, seen) {
    if (T[path] != "object" || V[path ".type"] != "object") return "the signed schema of the parameters is not one of an object"
    if ((name = stranger(path, "type properties required additionalProperties title description $schema")) != "") return "the signed schema has " name ", which jobcast-agent.sh does not know"
    if (path ".additionalProperties" in T && V[path ".additionalProperties"] != "false") return "the signed schema lets in other parameters"
    if (T[path ".properties"] != "object" && path ".properties" in T) return "the signed schema has no properties"
    if (N[path ".properties"] > 64) return "the signed schema has more than 64 parameters"
    for (i = 0; i < N[path ".properties"]; i++) {
      name = K[path ".properties", i]
      if (name !~ /^[A-Za-z_][A-Za-z0-9_-]*$/ || length(name) > 64 || variable(name) in seen) return "the signed schema has a parameter with an unusable name"
      seen[variable(name)] = 1
      if (wrong = check_property(path ".properties." name, "array")) return wrong " (" name " in the signed schema)"
    }
    return ""
  }
  function check_property(path, more,  type, known, i, each, count) {
    type = V[path ".type"]
    if (T[path] != "object" || !index(" string number integer boolean " more " ", " " type " ") || type == "") return "a type that jobcast-agent.sh does not know"
    known = "type title description default examples deprecated writeOnly enum const"
    if (type == "string") known = known " minLength maxLength pattern"
    if (type == "number" || type == "integer") known = known " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
    if (type == "array") known = known " items minItems maxItems uniqueItems"
    if ((each = stranger(path, known)) != "") return "the keyword " each ", which jobcast-agent.sh does not know"
    count = split("minLength maxLength minItems maxItems", W, " ")
    for (i = 1; i <= count; i++) if (path "." W[i] in T && !is_whole(path "." W[i])) return W[i] " is not a number"
    count = split("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf", W, " ")
    for (i = 1; i <= count; i++) if (path "." W[i] in T && !is_plain_number(path "." W[i])) return W[i] " is not a number"
    if (path ".multipleOf" in T && V[path ".multipleOf"] <= 0) return "multipleOf is not above 0"
    if (path ".uniqueItems" in T && !is_flag(path ".uniqueItems")) return "uniqueItems is neither true nor false"
    if (path ".enum" in T && T[path ".enum"] != "array") return "enum is not a list"
    if (path ".pattern" in T && (T[path ".pattern"] != "string" || !compiles(V[path ".pattern"]))) return "a pattern that jobcast-agent.sh does not know"
    if (type == "array") return check_property(path ".items", "")
    return ""
  }
  # What is wrong with the value at a path, by the property at another: the end of a sentence, or nothing.
  function problem_of(rule, path,  type, i, seen, x) {
    type = V[rule ".type"]
    if (type == "string" && T[path] != "string") return " must be text"
    if (type == "boolean" && !is_flag(path)) return " must be true or false"
    if (type == "number" && !is_plain_number(path)) return " must be a number"
    if (type == "integer" && !is_whole(path)) return " must be an integer"
    if (type == "array" && T[path] != "array") return " must be a list"
    if (rule ".enum" in T) {
      for (i = 0; i < N[rule ".enum"]; i++) if (deep(rule ".enum." i) == deep(path)) break
      if (i == N[rule ".enum"]) return " must be one of " raw("signed", rule ".enum")
    }
    if (rule ".const" in T && deep(rule ".const") != deep(path)) return " must be " raw("signed", rule ".const")
    if (type == "string") {
      x = characters(V[path])
      if (rule ".minLength" in T && x < V[rule ".minLength"] + 0) return " must have at least " V[rule ".minLength"] " characters"
      if (rule ".maxLength" in T && x > V[rule ".maxLength"] + 0) return " must have at most " V[rule ".maxLength"] " characters"
      if (rule ".pattern" in T && !matches(V[rule ".pattern"], V[path])) return " must match the pattern " V[rule ".pattern"]
    } else if (type == "number" || type == "integer") {
      x = V[path] + 0
      if (rule ".minimum" in T && x < V[rule ".minimum"] + 0) return " must be at least " V[rule ".minimum"]
      if (rule ".maximum" in T && x > V[rule ".maximum"] + 0) return " must be at most " V[rule ".maximum"]
      if (rule ".exclusiveMinimum" in T && x <= V[rule ".exclusiveMinimum"] + 0) return " must be greater than " V[rule ".exclusiveMinimum"]
      if (rule ".exclusiveMaximum" in T && x >= V[rule ".exclusiveMaximum"] + 0) return " must be less than " V[rule ".exclusiveMaximum"]
      if (rule ".multipleOf" in T && !is_multiple(x, V[rule ".multipleOf"] + 0)) return " must be a multiple of " V[rule ".multipleOf"]
    } else if (type == "array") {
      if (rule ".minItems" in T && N[path] < V[rule ".minItems"] + 0) return " must have at least " V[rule ".minItems"] " items"
      if (rule ".maxItems" in T && N[path] > V[rule ".maxItems"] + 0) return " must have at most " V[rule ".maxItems"] " items"
      for (i = 0; i < N[path]; i++) {
        if ((x = problem_of(rule ".items", path "." i)) != "") return "." i x
        x = deep(path "." i)
        if (V[rule ".uniqueItems"] == "true" && x in seen) return " must not have the same item twice"
        seen[x] = 1
      }
    }
    return ""
  }
  function is_multiple(x, of,  q, nearest) {
    q = x / of; if (q < 0) q = -q
    nearest = int(q + 0.5)
    return (q > nearest ? q - nearest : nearest - q) <= 2.220446049250313e-16 * (q > 1 ? q : 1)
  }
'

# Awk functions that match a pattern of a parameter: regular expressions of JavaScript without what cannot be matched in linear time,
# as contract/src/parameters/linear-pattern.ts has them. All ways are followed at once (Thompson). A pattern is compiled to steps:
# op[i] is c (one character of the set), s (split to go and alt), ^ $ b B (assertions) or m (match).
pattern_functions='
  function points(x, into,  i, c, count, v) {
    if (!("a" in ord)) for (i = 1; i < 256; i++) ord[sprintf("%c", i)] = i
    count = 0
    for (i = 1; i <= length(x); i++) {
      c = ord[substr(x, i, 1)]
      if (c < 128 || c >= 192) into[count++] = c < 128 ? c : c < 224 ? c - 192 : c < 240 ? c - 224 : c - 240
      else if (count) into[count - 1] = into[count - 1] * 64 + c - 128
    }
    return count
  }
  function broken() { is_broken = 1; q = q_end; return 0 }
  # Nodes of the tree: kind is q (sequence), | (choice), * (repeat), c or an assertion; first and after link the parts.
  function node(kind) { kind_of[++nodes] = kind; first[nodes] = after[nodes] = 0; set_of[nodes] = ""; return nodes }
  function choice(  r, tail, part) {
    r = node("|"); first[r] = tail = sequence()
    while (q < q_end && Q[q] == 124) { q++; part = sequence(); after[tail] = part; tail = part }
    return r
  }
  function sequence(  r, tail, part) {
    r = node("q"); tail = 0
    while (q < q_end && Q[q] != 124 && Q[q] != 41) {
      part = term()
      if (tail) after[tail] = part; else first[r] = part
      tail = part
    }
    return r
  }
  function term(  r, part) {
    part = atom()
    if (q >= q_end || is_broken || !index("*+?{", sprintf("%c", Q[q] < 128 ? Q[q] : 1))) return part
    if (index("^$bB", kind_of[part])) return broken()
    r = node("*"); first[r] = part; quantify(r)
    if (q < q_end && Q[q] == 63) q++
    return r
  }
  function quantify(r,  c) {
    c = Q[q++]; low[r] = c == 43; high[r] = c == 63 ? 1 : -1
    if (c != 123) return
    low[r] = high[r] = number()
    if (q < q_end && Q[q] == 44) { q++; high[r] = q < q_end && Q[q] != 125 ? number() : -1 }
    if (q >= q_end || Q[q++] != 125 || low[r] > 1000 || high[r] > 1000 || (high[r] >= 0 && high[r] < low[r])) broken()
  }
  function number(  v, count) {
    for (v = count = 0; q < q_end && Q[q] >= 48 && Q[q] <= 57 && count < 5; count++) v = v * 10 + Q[q++] - 48
    return count ? v : broken()
  }
  function chars(set, r) { r = node("c"); set_of[r] = set; return r }
  function atom(  c, r) {
    c = Q[q++]
    if (c == 94) return node("^")
    if (c == 36) return node("$")
    if (c == 46) return chars("!10-10 13-13 8232-8233")
    if (c == 91) return class()
    if (c == 40) {
      if (q < q_end && Q[q] == 63) { if (Q[q + 1] != 58) return broken(); q += 2 }
      if (++groups > 32) return broken()
      r = choice(); groups--
      if (q >= q_end || Q[q++] != 41) return broken()
      return r
    }
    if (c == 92) {
      if (q >= q_end) return broken()
      if (Q[q] == 98) { q++; return node("b") }
      if (Q[q] == 66) { q++; return node("B") }
      return chars(escape_set())
    }
    if (c < 128 && index("*+?)]{}|", sprintf("%c", c))) return broken()
    return chars(c "-" c)
  }
  # Behind a backslash: a class, or one character. What JavaScript may write otherwise is refused.
  function escape_set(  c) {
    c = Q[q++]
    if (c == 100) return "48-57"
    if (c == 119) return "48-57 65-90 95-95 97-122"
    if (c == 115) return "9-13 32-32 160-160 5760-5760 8192-8202 8232-8233 8239-8239 8287-8287 12288-12288 65279-65279"
    if (c == 68) return "!48-57"
    if (c == 87) return "!48-57 65-90 95-95 97-122"
    if (c == 83) return "!9-13 32-32 160-160 5760-5760 8192-8202 8232-8233 8239-8239 8287-8287 12288-12288 65279-65279"
    if (c == 116) return "9-9"
    if (c == 110) return "10-10"
    if (c == 118) return "11-11"
    if (c == 102) return "12-12"
    if (c == 114) return "13-13"
    if (c < 128 && index("^$\\.*+?()[]{}|/-", sprintf("%c", c))) return c "-" c
    broken()
    return ""
  }
  function class(  r, is_not, c, one, other) {
    r = ""
    if (q < q_end && Q[q] == 94) { is_not = 1; q++ }
    while (q < q_end && Q[q] != 93) {
      one = member()
      if (q + 1 < q_end && Q[q] == 45 && Q[q + 1] != 93) {
        q++; other = member()
        if (one + 0 != substr(one, index(one, "-") + 1) + 0 || index(other, " ") || index(one other, "!") || other + 0 < one + 0 || other + 0 != substr(other, index(other, "-") + 1) + 0) return broken()
        one = (one + 0) "-" (other + 0)
      }
      if (index(one, "!")) return broken()
      r = r (r == "" ? "" : " ") one
    }
    if (q >= q_end || is_broken) return broken()
    q++
    return chars((is_not ? "!" : "") r)
  }
  function member(  c) {
    c = Q[q++]
    if (c == 92) return q < q_end ? escape_set() : broken()
    return c "-" c
  }
  function append(n,  i, part, start, ends, count, end) {
    if (is_broken || steps > 1000 || ++appended > 4000) { is_broken = 1; return }
    if (kind_of[n] == "q") for (part = first[n]; part; part = after[part]) append(part)
    else if (kind_of[n] == "|") {
      count = 0
      for (part = first[n]; part; part = after[part]) {
        if (!after[part]) { append(part); continue }
        start = split_step(); append(part); ends[count++] = split_step(); alt[start] = steps
      }
      for (i = 0; i < count; i++) go[ends[i]] = alt[ends[i]] = steps
    } else if (kind_of[n] == "*") {
      for (i = 0; i < low[n] && !is_broken; i++) append(first[n])
      if (high[n] < 0) {
        start = split_step(); append(first[n]); end = split_step()
        go[end] = alt[end] = start; alt[start] = steps
      } else {
        count = 0
        for (i = low[n]; i < high[n] && !is_broken; i++) { ends[count++] = split_step(); append(first[n]) }
        for (i = 0; i < count; i++) alt[ends[i]] = steps
      }
    } else { op[steps] = kind_of[n]; charset[steps++] = set_of[n] }
  }
  function split_step() { op[steps] = "s"; go[steps] = alt[steps] = steps + 1; return steps++ }
  # Whether it is a pattern that is known here.
  function compiles(pattern,  tree) {
    if (steps && pattern == compiled) return !is_broken
    compiled = pattern; is_broken = nodes = groups = steps = appended = q = 0
    q_end = points(pattern, Q)
    if (q_end > 512) { is_broken = 1; return 0 }
    tree = choice()
    if (q < q_end) is_broken = 1
    append(tree)
    op[steps++] = "m"
    return !is_broken
  }
  function in_set(set, c,  i, count, part, is_not, end) {
    if ((set, c) in known_set) return known_set[set, c]
    is_not = sub(/^!/, "", set) ; count = split(set, part, " "); end = 0
    for (i = 1; i <= count; i++) if (c >= part[i] + 0 && c <= substr(part[i], index(part[i], "-") + 1) + 0) { end = 1; break }
    if (is_not) { known_set["!" set, c] = !end; return !end }
    known_set[set, c] = end
    return end
  }
  function is_word(c) { return c != "" && in_set("48-57 65-90 95-95 97-122", c) }
  function holds(kind, at, count,  edge) {
    if (kind == "^") return at == 0
    if (kind == "$") return at == count
    edge = is_word(at > 0 ? X[at - 1] : "") != is_word(at < count ? X[at] : "")
    return kind == "b" ? edge : !edge
  }
  function matches(pattern, x,  count, at, i, top, stack, current, coming, now, later, seen, step) {
    if (!compiles(pattern)) return 0
    count = points(x, X); now = 0
    for (at = 0; at <= count; at++) {
      top = 0; stack[top++] = 0; later = 0
      for (i = 0; i < now; i++) stack[top++] = current[i]
      while (top > 0) {
        step = stack[--top]
        if (seen[step] == at + 1) continue
        seen[step] = at + 1
        if (op[step] == "m") return 1
        if (op[step] == "s") { stack[top++] = alt[step]; stack[top++] = go[step] }
        else if (op[step] != "c") { if (holds(op[step], at, count)) stack[top++] = step + 1 }
        else if (at < count && in_set(charset[step], X[at])) coming[later++] = step + 1
      }
      for (i = 0; i < later; i++) current[i] = coming[i]
      now = later
    }
    return 0
  }
'

# Puts the signed document with its placeholders filled in into $folder/document, and sets $parameters and $uses_attributes. Of the
# server it takes the values of parameters, if they are as the signed schema says, the secrets that the signed document uses, the URLs
# of files whose hashes it names, and the number of the run; the rest this device knows itself. Otherwise it fails with $problem.
fill_document() {
  problem='the agent cannot read what was signed' parameters='' uses_attributes=''
  if ! list_attributes >"$tmp.own" 2>/dev/null; then : >"$tmp.own"; fi
  rm -f "$folder/document"
  assignments=$({
    tr '\000\n' '\001 ' <"$folder/payload" && echo
    tr '\000\n' '\001 ' <"$folder/handed" && echo
    awk -F '\t' '{ value[$1] = $2 } END { for (name in value) { printf "%s\"%s\":%s", (sep ? "," : "{"), name, value[name]; sep = 1 } print (sep ? "" : "{") "}" }' "$tmp.own"
  } | fill_to=$folder/document fill_device=$device awk "$json_functions$parameter_functions$pattern_functions$file_functions"'
    function refuse(x) { if (refused == "") refused = x }
    function encode(x,  r) {
      while (match(x, /["\\\001-\037]/)) {
        r = r substr(x, 1, RSTART - 1) escape(substr(x, RSTART, 1)); x = substr(x, RSTART + 1)
      }
      return "\"" r x "\""
    }
    function escape(c,  k) {
      if (c == "\"" || c == "\\") return "\\" c
      for (k = 1; k < 32; k++) if (sprintf("%c", k) == c) return sprintf("\\u%04x", k)
    }
    # The document as JSON: first to find what it uses, then with the values.
    function emit(path,  i, r, sep) {
      if (T[path] == "literal") return V[path]
      if (T[path] == "string") return index(V[path], "${") ? fill(V[path]) : encode(V[path])
      for (i = 0; i < N[path]; i++) {
        r = r sep (T[path] == "object" ? encode(K[path, i]) ":" : "") emit(join(path, K[path, i])); sep = ","
      }
      return T[path] == "object" ? "{" r "}" : "[" r "]"
    }
    function fill(x,  r, rest, found, end) {
      for (rest = x; (found = index(rest, "${")); ) {
        if (found > 1 && substr(rest, found - 1, 1) == "$") { r = r substr(rest, 1, found - 2) "${"; rest = substr(rest, found + 2); continue }
        end = index(substr(rest, found), "}")
        if (!end) { refuse("a placeholder in the document has no }"); return "\"\"" }
        if (++holes > 512) { refuse("a document has at most 256 placeholders"); return "\"\"" }
        look_up(substr(rest, found + 2, end - 3))
        if (found == 1 && end == length(x)) return found_json
        r = r substr(rest, 1, found - 1) found_text; rest = substr(rest, found + end)
      }
      return encode(r rest)
    }
    # Sets found_json and found_text.
    function look_up(body,  at, from, name, otherwise, path) {
      found_json = "\"\""; found_text = ""
      if (body == "device.deviceId") { give(ENVIRON["fill_device"]); return }
      if (body == "run.runId") {
        path = "handed.execution.runId"
        if (T[path] != "literal" || V[path] !~ /^[1-9][0-9]*$/ || length(V[path]) > 15) refuse("the server sent no runId")
        found_json = found_text = V[path]; return
      }
      if (body ~ /^secrets[.][A-Za-z_][A-Za-z0-9_-]*$/ && length(body) <= 72) {
        name = substr(body, 9); path = join("handed.execution.secrets", name)
        if (T[path] != "string") { refuse("the server sent no secret " name); return }
        if (filling && !(name in secret_used)) words = words variable(name, "SECRET") "=" quoted(V[path]) " "
        if (filling) secret_used[name] = 1
        give(V[path]); return
      }
      if (index(body, "file.") == 1) { look_up_file(substr(body, 6), body); return }
      at = index(body, ":-"); otherwise = at ? substr(body, at + 2) : ""; name = at ? substr(body, 1, at - 1) : body
      if (index(name, "params.") == 1) { from = "params"; name = substr(name, 8) }
      else if (index(name, "device.attributes.") == 1) { from = "attributes"; name = substr(name, 19); uses_attributes = 1 }
      if (from == "" || length(body) > 512 || length(name) > 64 || name !~ /^[A-Za-z_][A-Za-z0-9_.-]*$/) { refuse("this device has no value for ${" body "}"); return }
      if (from == "params") used[name] = 1
      path = from == "params" ? chosen[name] : join("own", name)
      if (path != "" && path in T) {
        found_text = plain(root_of(path), path); found_json = raw(root_of(path), path)
      } else if (at) give(otherwise)
      else if (filling) refuse("this device has no value for ${" body "}")
    }
    # The last dot divides. Only of files whose hash the author has signed.
    function look_up_file(name, body,  field, ref, path) {
      field = name; sub(/.*[.]/, "", field); ref = substr(name, 1, length(name) - length(field) - 1)
      path = join("handed.execution.files", ref) "." field
      if (length(body) > 512 || !(ref in file_at) || !index(" url size sha256 ", " " field " ")) refuse("this device has no value for ${" body "}")
      else if (file_hash[file_at[ref]] == "") refuse("the signed document does not name the sha256 of the file " ref)
      else if (!(path in T)) refuse("the server sent no " field " of the file " ref)
      else if (T[path] == "literal") found_json = found_text = V[path]
      else give(V[path])
    }
    function give(x) { found_text = x; found_json = encode(x) }
    function root_of(path) { return substr(path, 1, index(path, ".") - 1) }
    function choose(  i, name, list, given, from, x) {
      list = "signed.parameters.properties"; given = "handed.execution.parameters"
      if (given in T && T[given] != "object") { refuse("parameters must be an object"); return }
      if (given in T && length(raw("handed", given)) > 16384) { refuse("parameters must be at most 16 KiB of JSON"); return }
      for (i = 0; i < N[given]; i++) {
        name = K[given, i]
        if (name ~ /[.]/ || !((list "." name) in T)) { refuse("parameters." name " is not a parameter of the job, according to the signed schema"); return }
      }
      for (i = 0; i < N["signed.parameters.required"]; i++) used[V["signed.parameters.required." i]] = 1
      for (i = 0; i < N[list]; i++) {
        name = K[list, i]; from = given "." name
        if (!(from in T)) from = list "." name ".default"
        if (!(from in T)) { if (name in used) refuse("parameters." name " is required, according to the signed schema"); continue }
        if ((x = problem_of(list "." name, from)) != "") { refuse("parameters." name x ", according to the signed schema"); return }
        chosen[name] = from
        words = words variable(name) "=" quoted(plain(root_of(from), from)) " "
      }
    }
    { given_text[NR] = $0 }
    END {
      read("signed", given_text[1]); read("handed", given_text[2]); read("own", given_text[3])
      if (bad || NR != 3) exit 1
      if ("signed.parameters" in T && (x = check_schema("signed.parameters")) != "") refuse(x)
      if ((x = read_files("signed.document.files")) != "") refuse(x)
      emit("signed.document")
      if (refused == "") choose()
      filling = 1
      if (refused == "") document = emit("signed.document")
      if (refused == "") { ORS = ""; print document >ENVIRON["fill_to"]; close(ENVIRON["fill_to"]); ORS = "\n" }
      print "problem=" quoted(refused); print "parameters=" quoted(words); print "uses_attributes=" (uses_attributes ? 1 : "\047\047")
    }') || return 1
  eval "$assignments"
  assignments=''
  [ -z "$problem" ]
}

find_handler() {
  program=$handlers/$handler
  case $handler in
    '' | .* | */* | *[[:cntrl:]]*) problem='a handler must be a file name without folders that does not begin with a dot' && return ;;
  esac
  if [ ${#handler} -gt 255 ]; then
    problem='the name of the handler is too long'
  elif [ ! -e "$program" ]; then
    problem="there is no handler \"$handler\" on this device"
  elif [ ! -f "$program" ]; then
    problem="the handler \"$handler\" is not a file"
  elif [ ! -x "$program" ]; then
    problem="the handler \"$handler\" is not executable (chmod +x)"
  else
    case $(ls -ldL "$program") in ????????w*) problem="the handler \"$handler\" can be written by everyone" ;; esac
  fi
}

# One start of the attempt: its steps in order, up to the first that fails or asks for a reboot.
run_steps() {
  # It is handed out again when the agent is back.
  [ -z "$stopping" ] || return
  start=$((start + 1)) id=$(random_id)
  rm -f "$folder/ending" "$folder/result.json"
  printf '%s\n' "$version" >"$folder/version"
  if ! printf 'start=%s\nid=%s\nbooted=%s\nqueued_before=%s\nreruns=%s\n' "$start" "$id" "$boot" "$queued" "$reruns" >"$folder/started.new" ||
    ! mv "$folder/started.new" "$folder/started" || ! on_disk "$folder"; then
    finish FAILED 'not started, because the agent cannot write to its disk'
    return
  fi
  # From here on it counts as started.
  begun=$(uptime_seconds) step=$first_step
  while :; do
    why='' exit_code=126 problem=''
    find_step "$step"
    if [ -z "$problem" ]; then run_step; else why=$problem; fi
    if [ -s "$folder/ending" ] || [ "$exit_code" = 194 ]; then break; fi
    if [ -n "$why" ] && [ -z "$ignore_failure" ]; then break; fi
    why='' resumed='' step=$((step + 1))
    [ "$step" -lt "$step_count" ] || break
    if [ -n "$stopping" ]; then say stopping >"$folder/ending" && break; fi
  done
  judge
}

run_step() {
  counter=''
  if [ -n "$allow_stderr" ]; then count_stderr; fi
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
  exit_detail=",\"exitCode\":\"$exit_code\""
  if [ "$exit_code" -gt 128 ] && [ "$exit_code" != 194 ] && signal=$(kill -l $((exit_code - 128)) 2>/dev/null); then
    exit_detail=",\"signal\":\"SIG${signal#SIG}\"" why="was ended by SIG${signal#SIG}"
  elif [ "$exit_code" != 0 ]; then
    why="exited with code $exit_code"
  fi
  if [ -n "$counter" ]; then judge_stderr; fi
}

# The lines on stderr are counted on their way to the output.
count_stderr() {
  rm -f "$folder/stderr" "$folder/stderr-lines"
  mkfifo "$folder/stderr" || return 0
  tee -a "$folder/output" <"$folder/stderr" 2>/dev/null | wc -l >"$folder/stderr-lines" &
  counter=$!
}

# Who has left the session of the handler may hold its stderr for longer.
judge_stderr() {
  for _ in 1 2; do if kill -0 "$counter" 2>/dev/null; then sleep 1; fi; done
  kill -KILL "$counter" 2>/dev/null
  wait "$counter" 2>/dev/null
  lines=$(tr -cd 0-9 <"$folder/stderr-lines")
  is_count "$lines" || lines=0
  if [ -z "$why" ] && [ "$lines" -gt "$allow_stderr" ]; then why="printed $lines lines on stderr, and $allow_stderr are allowed"; fi
}

# In a session, and so a process group, of its own. It sees none of the agent's settings.
start_program() {
  trap - EXIT TERM INT
  for variable in $(env | sed -n 's/^\(JOBCAST_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$variable"; done
  export JOBCAST_DEVICE_ID="$device" JOBCAST_JOB_ID="$job" JOBCAST_ATTEMPT="$attempt" JOBCAST_START="$start"
  export JOBCAST_STEP="$step_name" JOBCAST_RESULT_FILE="$folder/result.json" JOBCAST_START_ID="$id"
  if [ -n "$resumed" ]; then export JOBCAST_RESUMED=1; fi
  if is_traceparent "$traceparent"; then export TRACEPARENT="$traceparent"; fi
  # Names and values were quoted when they were read.
  if [ -n "$parameters" ]; then eval "export $parameters"; fi
  if [ -s "$folder/files" ]; then
    while read -r file_name file_variable _; do export "$file_variable=$folder/work/$file_name"; done <"$folder/files"
  fi
  cd "$folder/work" || exit 126
  eval "set -- $words"
  if [ -n "$program" ]; then set -- "$program" "$@"; fi
  if [ -n "$counter" ]; then exec setsid "$@" 2>"$folder/stderr" <"$folder/document" >>"$folder/output"; fi
  exec setsid "$@" <"$folder/document" >>"$folder/output" 2>&1
}

# W3C Trace Context: hexadecimal digits with three dashes between them.
is_traceparent() {
  case $1 in
    *[!0-9a-f-]* | *-*-*-*-*) return 1 ;;
    ??-????????????????????????????????-????????????????-??) ;;
    *) return 1 ;;
  esac
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
  offset=0 scanned=$(size_of "$folder/output") last='' seconds=0 mine=$folder/answer version=$(cat "$folder/version")
  # What an earlier step printed was looked through for progress.
  [ "$step" != "$first_step" ] || scanned=0
  # Not longer than the agent itself, whose process id $$ is here as well.
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    seconds=$((seconds + 1))
    send_output "$mine" "$folder" "$job" "$attempt"
    send_progress
    if [ -n "$limit" ] && [ $(($(uptime_seconds) - begun)) -ge "$limit" ]; then
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
  if [ "$offset" -gt "$scanned" ]; then scanned=$offset; fi
  if [ -z "$line" ] || [ "$line" = "$last" ]; then return 0; fi
  last=$line
  progress_detail "$line" >"$folder/progress"
  # Unknown until it is answered: this process may be killed before, and the server takes the report all the same.
  : >"$folder/version"
  call "$mine" POST "/jobs/$job" -H 'Content-Type: application/json' --data-binary \
    "{\"status\":\"IN_PROGRESS\",\"executionNumber\":$attempt,\"includeJobExecutionState\":true,\"statusDetails\":{\"agent\":\"$agent\"$(cat "$folder/progress")}}"
  adopt_version "$mine"
  printf '%s\n' "$version" >"$folder/version.new" && mv "$folder/version.new" "$folder/version"
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
  call "$1" GET "/jobs/$job?executionNumber=$attempt"
  case $code in
    404 | 410) ending=withdrawn ;;
    200)
      parse "$1" 'seen=execution.versionNumber'
      if [ -n "$version" ] && is_id "$seen" && [ "$seen" != "$version" ]; then ending=canceled; fi
      ;;
  esac
}

# What the end of the last step means.
judge() {
  ending=$(cat "$folder/ending" 2>/dev/null)
  detail=$(cat "$folder/progress" 2>/dev/null)
  if [ "$step_count" -gt 1 ]; then detail="$detail,\"step\":\"$(json_text "$step_name")\""; fi
  detail="$detail${exit_detail-},\"durationMs\":\"$((($(uptime_seconds) - begun) * 1000))\""
  case $ending in
    withdrawn) say "execution $job, attempt $attempt: already ended on the server" && settle "$folder" ;;
    canceled) finish CANCELED '' "$detail" ;;
    time-limit) finish FAILED 'took longer than its time limit' "$detail" ;;
    stopping)
      [ -n "$reruns" ] || finish FAILED 'interrupted: the agent was stopped while it ran' "$detail"
      ;;
    *)
      if [ "$exit_code" = 194 ] && [ "$start" -lt $max_starts ]; then
        printf '%s\n%s\n%s\n' "$start" "$boot" "$step" >"$folder/rebooting.new" && mv "$folder/rebooting.new" "$folder/rebooting"
        on_disk "$folder"
        wait_for_reboot
      elif [ -z "$why" ]; then
        finish SUCCEEDED '' "$detail"
      elif [ "$exit_code" = 75 ]; then
        not_now
      else
        finish FAILED "$why" "$detail"
      fi
      ;;
  esac
}

# It goes back to the server, which hands it out again later: after a minute, then after twice as long, up to an hour.
not_now() {
  waited=$(sed -n "s/^$job\\.$attempt $queued \\([0-9]\\{1,4\\}\\)\$/\\1/p" "$state/not-now" 2>/dev/null | tail -n 1)
  is_count "$waited" || waited=30
  waited=$((waited < 1800 ? waited * 2 : 3600))
  rm -f "$folder/result.json"
  finish REJECTED "not now (exit code 75), again in $waited s" "$detail,\"retryAfterSeconds\":\"$waited\""
}

# Until then nothing else starts, and it can be canceled.
wait_for_reboot() {
  say "execution $job, attempt $attempt: waiting for a reboot"
  offset=0
  send_output "$tmp" "$folder" "$job" "$attempt"
  call_until_answered "$tmp" POST "/jobs/$job" -H 'Content-Type: application/json' --data-binary \
    "{\"status\":\"IN_PROGRESS\",\"executionNumber\":$attempt,\"includeJobExecutionState\":true,\"statusDetails\":{\"agent\":\"$agent\",\"waitsFor\":\"reboot\"}}"
  parse "$tmp" 'version=executionState.versionNumber'
  while [ -z "$stopping" ]; do
    pause "$poll_seconds"
    find_ending "$tmp"
    case $ending in
      withdrawn) settle "$folder" && return ;;
      canceled) finish CANCELED 'canceled before the reboot' && return ;;
    esac
  done
}

# What this device is, a line each: name, tab, value as JSON. What the file says comes last. Fails if it is no JSON object.
list_attributes() {
  printf 'agentVersion\t"%s"\nos\t"%s"\narch\t"%s"\n' $agent_version "$machine_os" "$machine_arch"
  [ -z "$time_zone" ] || printf 'timeZone\t"%s"\n' "$time_zone"
  [ -z "$attributes_file" ] || tr '\000\n' '\001 ' <"$attributes_file" | awk "$json_functions"'
    { s = s $0 }
    END {
      read("", s)
      if (bad || T[""] != "object") exit 1
      for (i = 0; i < N[""]; i++) {
        name = K["", i]; path = join("", name)
        # The rules of the server; it would refuse all of them.
        if (length(name) > 64 || name !~ /^[A-Za-z_][A-Za-z0-9_.-]*$/ || T[path] == "object" || T[path] == "array") exit 1
        print name "\t" raw("", path)
      }
    }'
}

# With the names that Node has for them.
find_machine() {
  machine_os=$(uname -s | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9')
  case $(uname -m) in
    x86_64 | amd64) machine_arch=x64 ;;
    aarch64 | arm64) machine_arch=arm64 ;;
    arm*) machine_arch=arm ;;
    i?86) machine_arch=ia32 ;;
    *) machine_arch=$(uname -m | tr -cd 'A-Za-z0-9_') ;;
  esac
  time_zone=${TZ:-}
  case $time_zone in
    '' | /*) time_zone=$(readlink "${time_zone:-/etc/localtime}" 2>/dev/null) && time_zone=${time_zone##*zoneinfo/} || time_zone=$(head -n 1 /etc/timezone 2>/dev/null) ;;
  esac
  time_zone=${time_zone#:}
  case $time_zone in Etc/UTC | Etc/UCT | UCT | '') time_zone=UTC ;; [!A-Za-z]* | *[!A-Za-z0-9_+/-]*) time_zone='' ;; esac
  [ ${#time_zone} -le 64 ] || time_zone=''
}

# Sends what is new, and null for what is gone. The server is asked once; after a failure, again before the next poll.
attributes_complete='' refused_attributes='' attributes_note=''
report_attributes() {
  new=$tmp.attributes
  if ! list_attributes >"$new" 2>/dev/null; then
    note_attributes "the attributes in $attributes_file are not reported: it is no JSON object of names and plain values"
    return 0
  fi
  [ -e "$state/attributes" ] || : >"$state/attributes"
  { sed 's/^/-/' "$state/attributes" && sed 's/^/+/' "$new"; } | awk -F '\t' -v complete="$attributes_complete" '
    { name = substr($1, 2) }
    /^-/ { old[name] = $2 }
    /^[+]/ { now[name] = $2 }
    function add(name, value) { body = body (body == "" ? "{" : ",") "\"" name "\":" value }
    END {
      for (name in now) if (!complete || !(name in old) || old[name] != now[name]) add(name, now[name])
      for (name in old) if (!(name in now)) add(name, "null")
      if (body != "") print body "}"
    }' >"$new.body"
  if [ ! -s "$new.body" ] || [ "$(cat "$new.body")" = "$refused_attributes" ]; then return 0; fi
  call "$tmp" PUT /attributes -H 'Content-Type: application/json' --data-binary "@$new.body"
  case $code in
    2??) mv "$new" "$state/attributes" && attributes_complete=1 refused_attributes='' attributes_note='' ;;
    000 | 408 | 429 | 5?? | 401 | 403) ;;
    *)
      refused_attributes=$(cat "$new.body")
      parse "$tmp" 'message=message'
      note_attributes "the server refuses the attributes ($code): $message"
      ;;
  esac
}

note_attributes() {
  [ "$attributes_note" = "$1" ] || say "$1"
  attributes_note=$1
}

# A server that answers nonsense, or at once what it should answer after a while, is asked again ever less often.
work() {
  confused=0 hasty=''
  while [ -z "$stopping" ]; do
    report_finished || return
    report_attributes
    call_until_answered "$tmp" PUT '/jobs/$next' -H 'Content-Type: application/json' --data-binary "{\"statusDetails\":{\"agent\":\"$agent\"}}" || return
    parse "$tmp" 'execution=execution job=execution.jobId attempt=execution.executionNumber queued=execution.queuedAt version=execution.versionNumber begun_by=execution.statusDetails.agent traceparent=execution.traceparent'
    if [ -n "$json_bad" ] || { [ -n "$execution_type" ] && ! is_understood; }; then
      say "the server's answer is not understood ($code)"
      confused=$((confused < 16 ? confused * 2 + 1 : 30))
      pause "$confused"
      continue
    fi
    confused=0
    if [ -n "$execution_type" ]; then
      carry_out
    else
      purge_others ''
      [ -z "$hasty" ] || pause 1
      asked_at=$(uptime_seconds) hasty=''
      call_until_answered "$tmp" GET '/jobs?wait=30' || return
      [ "$code" = 200 ] || pause 5
      if [ "$(uptime_seconds)" = "$asked_at" ]; then hasty=1; fi
    fi
  done
}

# Numbers of an execution become names of folders and parts of reports.
is_understood() {
  is_id "$version" || version=''
  is_id "$job" && is_count "$attempt" && { [ -z "$queued" ] || is_id "$queued"; }
}

enroll() {
  [ -n "$token_file" ] || refuse_start '--token-file must name the file to write the token to'
  [ ! -e "$token_file" ] || refuse_start "a token already exists in $token_file"
  credential=enrollment_credential
  [ -n "$($credential)" ] || refuse_start '--enrollment-token-file or JOBCAST_ENROLLMENT_TOKEN must give an enrollment token (je_...)'
  # On disk before it is sent: after a lost answer the same claim gets a token without counting as another use.
  claim=$(cat "$token_file.claim" 2>/dev/null)
  case $claim in
    '' | *[!0-9a-f]*)
      claim=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
      printf '%s' "$claim" >"$token_file.claim" && sync
      ;;
  esac
  call "$token_file.answer" POST /enroll -H 'Content-Type: application/json' --data-binary \
    "{\"claim\":\"$claim\"${name:+,\"deviceName\":\"$(json_text "$name")\"}}"
  parse "$token_file.answer" 'message=message'
  # It becomes a line of a configuration of curl, so nothing but the exact form of a token is taken.
  : >"$token_file.new"
  if [ "$code" = 201 ] && [ -z "$json_bad" ]; then
    { json "$token_file.answer" @deviceToken | tr '\n' ' ' && echo; } | grep -x 'jd_[0-9A-Za-z]\{48\}' >"$token_file.new"
  fi
  rm -f "$token_file.answer" "$token_file.answer.code" "$token_file.answer.head" "$token_file.answer.error"
  if [ ! -s "$token_file.new" ]; then
    rm -f "$token_file.new"
    if [ "$code" = 201 ]; then message='what the server has issued is not a device token'; fi
    say "jobcast-agent: cannot enroll the device: ${message:-no answer from $url} ($code)" >&2
    exit 1
  fi
  mv "$token_file.new" "$token_file" && sync && rm -f "$token_file.claim"
  say "$device is enrolled. Its token is in $token_file."
}

read_flags "$@"
check_flags
if [ -n "$enrolls" ]; then enroll && exit 0; fi
check_handlers
if [ -n "$token_file" ]; then
  [ -f "$token_file" ] || refuse_start "there is no token file $token_file"
  is_private "$token_file" || refuse_start "others can read the token file $token_file: chmod 600 $token_file"
fi
[ -n "$token_file" ] || [ -n "${JOBCAST_DEVICE_TOKEN:-}" ] || refuse_start '--token-file must name a file'
[ -n "$(device_credential)" ] || refuse_start "there is no device token (jd_...) in ${token_file:-JOBCAST_DEVICE_TOKEN}"
open_state
tmp=$state/tmp
find_machine
check_trust
trap stop TERM INT
recover
work
exit 0
