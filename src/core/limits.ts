/** Every limit of tallystick, with its unit in its name. Each is enforced where it is imported. */

/** Levels of nesting in any JSON value or document. */
export const JSON_DEPTH_MAX = 64
/** Keys of objects whose canonical form is kept in memory for the next object, and their length. */
export const KEY_LITERALS_MAX = 1_024
export const KEY_LITERAL_LENGTH_MAX = 64
/** Types of AIS whose form is kept in memory for the next value of that type, and their length. */
export const TYPES_KEPT_MAX = 1_024
export const TYPE_KEPT_LENGTH_MAX = 64
/** Size of a document's text (formats.md §10). */
export const DOCUMENT_BYTES_MAX = 1024 * 1024
/** Size of a document's text that is YAML and no JSON: its library reads it in one call. */
export const DOCUMENT_YAML_BYTES_MAX = 64 * 1024
/** Findings about one document that a report names; of the others it gives the number. */
export const DOCUMENT_FINDINGS_MAX = 100
/** Length of a text from which its reading gives the event loop its turn between slices. */
export const DOCUMENT_SLICE_LENGTH = 32 * 1024
/** Steps after which the work on a long text gives the event loop its turn (decision 0167). */
export const DOCUMENT_SLICE_STEPS = 40_000
/** Steps that reading, checking and compiling one document may take (decision 0126). */
export const DOCUMENT_WORK_MAX = 4_000_000

/** Child executions of one composite when the document does not say (seed 4, B6). */
export const MAX_STEPS_DEFAULT = 128
/** Highest `max_steps` a document may ask for. */
export const MAX_STEPS_LIMIT = 1_000_000
/** Child executions of one run, all its composites together (D7). */
export const RUN_STEPS_MAX = 10_000_000
/** Nodes of one graph. */
export const GRAPH_NODES_MAX = 10_000
/** Branches of one transition. */
export const GRAPH_BRANCHES_MAX = 256
/** Composites inside composites. */
export const GRAPH_DEPTH_MAX = 16
/** Microsteps of one XState macrostep (D7). */
export const CHART_ITERATIONS_MAX = 1_000

/** Canonical JSON above this many bytes is kept as a blob beside the receipt (formats.md §3). */
export const INLINE_BYTES_MAX = 1024
/** Canonical JSON of one input of a run, request, response, answer or state value, in UTF-8. */
export const VALUE_BYTES_MAX = 16 * 1024 * 1024
/** Length of one state key in UTF-16 units. */
export const STATE_KEY_LENGTH_MAX = 1_024
/** Keys one unit of work may change. */
export const WRITE_SET_KEYS_MAX = 100_000

/** Effects one attempt of a leaf may ask for. */
export const ATTEMPT_EFFECTS_MAX = 10_000
/** Workflows in code that wait for one another, the first of them counted. */
export const WORKFLOW_CHILD_DEPTH_MAX = 16
/** Steps of one workflow function that are open at once. */
export const WORKFLOW_STEPS_OPEN_MAX = 1_000
/** Answers of one attempt that are kept in memory as they are; with more, all are folded. */
export const RECORDED_ANSWERS_MAX = 32
/** Bodies of folded recorded results that stay, and the length of each; others are read back. */
export const RECORDED_BODIES_MAX = 32
export const RECORDED_BODY_LENGTH_MAX = 256
/** Re-runs of a unit of work whose reads changed, before it runs alone (L10). */
export const CONFLICT_RERUNS_MAX = 8
/** Events kept for one slow reader of a run. */
export const EVENTS_BUFFERED_MAX = 10_000
/** Spans of telemetry kept until what they are of is durable; what is more is left out. */
export const SPANS_BUFFERED_MAX = 10_000
/** UTF-8 bytes of one message for Stately's inspector; longer ones are cut by member. */
export const INSPECTION_MESSAGE_BYTES_MAX = 262_144
/** UTF-8 bytes that a viewer of an inspection may send at once; nothing of it is used. */
export const INSPECTION_REQUEST_BYTES_MAX = 1_024
/** Viewers of one inspection at once. */
export const INSPECTION_VIEWERS_MAX = 16
/** Between two looks of an inspection at a ledger that a service holds, milliseconds. */
export const INSPECTION_POLL_MS = 250
/** How long a ledger that nothing else holds stays open after the last question about it. */
export const INSPECTION_GRACE_MS = 250
/** How long it stays open for one question after another, before others have their turn. */
export const INSPECTION_TURN_MS = 1_000
/** How long one that looks leaves a ledger to its next holder, after its last one has gone. */
export const INSPECTION_HANDOVER_MS = 2_000
/** How long a reading of what has happened waits for more of it. */
export const INSPECTION_QUIET_MS = 1_000
/** Time for which the link to a console opens a session, once. */
export const CONSOLE_LINK_MS = 60_000
/** Links to one console that are good at once, and sessions; the oldest of them ends. */
export const CONSOLE_LINKS_MAX = 4
export const CONSOLE_SESSIONS_MAX = 16
/** Connections of a console at once, on each of its addresses. */
export const CONSOLE_CONNECTIONS_MAX = 64
/** Requests of a console that are under way at once, streams too. */
export const CONSOLE_REQUESTS_MAX = 64
/** Bytes of the headers of one request to a console. */
export const CONSOLE_HEADER_BYTES_MAX = 8 * 1024
/** Length of the address of one request to a console. */
export const CONSOLE_ADDRESS_LENGTH_MAX = 2_048
/** Time within which a request to a console has sent its headers, and all of it. */
export const CONSOLE_HEADERS_MS = 10_000
export const CONSOLE_REQUEST_MS = 30_000
/** Time after which an idle connection to a console is closed. */
export const CONSOLE_IDLE_MS = 5_000
/** Time after which a stream ends whose reader takes nothing. */
export const CONSOLE_STALL_MS = 30_000
/** Files of the console's page, and bytes of each. */
export const CONSOLE_FILES_MAX = 256
export const CONSOLE_FILE_BYTES_MAX = 4 * 1024 * 1024
/** Files of a project that `tally dev` watches, and how often it looks at them. */
export const DEV_FILES_MAX = 2_000
export const DEV_POLL_MS = 300
/** Time within which a process of `tally dev` has parked its runs and let go of the ledger. */
export const DEV_CLOSE_MS = 10_000
/** Events of the feed that wait for one slow reader; with more, it is to ask anew. */
export const FEED_EVENTS_MAX = 1_024
/** Time after which a silent feed says that it is there. */
export const FEED_COMMENT_MS = 15_000
/** Highest TCP port. */
export const PORT_MAX = 65_535
/** Runs in memory at once; parked runs do not count. */
export const RUNS_LIVE_MAX = 10_000
/** Runs that do at once what they can because their time has come. */
export const DUE_RUNS_AT_ONCE_MAX = 256
/** How often a message follows a run that parks or resumes under its hands. */
export const MESSAGE_FOLLOWS_MAX = 8
/** Keys of which some have to sign the answer to one wait (K13). */
export const APPROVERS_MAX = 32
/** Length of the id that a caller gives a command, in UTF-16 units. */
export const COMMAND_ID_LENGTH_MAX = 128
/** Tags of one run, and characters of each. */
export const RUN_TAGS_MAX = 16
export const RUN_TAG_LENGTH_MAX = 128
/** Characters of the name of a subject, and keys of subjects that are kept in memory. */
export const SUBJECT_LENGTH_MAX = 128
export const SUBJECT_KEYS_KEPT = 1024
/** Keys of the state that an erasing names. */
export const ERASED_STATE_KEYS_MAX = 1000
/** Characters of the name of a signal; its id has at most COMMAND_ID_LENGTH_MAX. */
export const SIGNAL_NAME_LENGTH_MAX = 128
/** Bytes of the value of one signal, as canonical JSON. */
export const SIGNAL_BYTES_MAX = 1024 * 1024
/** Signals that a run has and no unit of work has taken for good, and bytes of their values. */
export const RUN_SIGNALS_WAITING_MAX = 1_000
export const RUN_SIGNALS_BYTES_MAX = 16 * 1024 * 1024
/** Signals that a run takes in all: their ids are kept in memory while it runs. */
export const RUN_SIGNALS_MAX = 10_000
/** What a queue does at once where it does not say: effects of one name, for one. */
export const QUEUE_CONCURRENCY_DEFAULT = 64
/** The most that it may say. */
export const QUEUE_CONCURRENCY_MAX = 100_000
/** The most that a queue may begin in one span of its rate: so many times are kept. */
export const QUEUE_RATE_MAX = 10_000
/** Priorities of work in a queue, above and below 0. */
export const QUEUE_PRIORITY_MAX = 100
/** Characters of the name of a queue, and of a partition. */
export const QUEUE_NAME_LENGTH_MAX = 128
/** Of so many that a queue begins, one is the oldest, whatever its priority and partition. */
export const QUEUE_OLDEST_EVERY = 16
/** Characters of a cron expression, a time zone, or another word of a schedule. */
export const SCHEDULE_TEXT_LENGTH_MAX = 128
/** Characters of what a schedule with a subject begins with, encrypted and in base64. */
export const SCHEDULE_SEALED_LENGTH_MAX = 2 * 1024 * 1024
/** The shortest interval of a schedule. */
export const SCHEDULE_EVERY_MS_MIN = 1_000
/** Runs that a schedule begins at once for what fell due before. */
export const SCHEDULE_CATCH_UP_MAX = 1_000
/** Open runs of one schedule, with which it begins no more. */
export const SCHEDULE_OPEN_MAX = 1_000
/** Times that are told of a schedule before they come. */
export const SCHEDULE_TIMES_SHOWN_MAX = 100
/** Work of one queue that its query names. */
export const QUEUE_WORK_SHOWN_MAX = 100
/** How long a unit waits for keys that another unit has reserved (L10). */
export const RESERVATION_WAIT_MS = 30_000
/** A run whose only timer is due sooner than this stays in memory instead of being parked. */
export const PARK_AFTER_MS = 1_000
/** So much later for each recorded answer that its code would read again when it resumes. */
export const PARK_AFTER_ANSWER_MS = 10
/** How long a graceful close waits for effects that were already sent. */
export const CLOSE_GRACE_MS = 5_000
/** Waiting actions, transitions in a document, and other short lists. */
export const RETRY_ATTEMPTS_MAX = 1_000
/** Executions of an idempotent compensation, and the delay after the first; it doubles (C4). */
export const COMPENSATION_ATTEMPTS_MAX = 3
export const COMPENSATION_RETRY_MS = 1_000
/** Text by which an obligation asks a person, in characters. */
export const OBLIGATION_MESSAGE_MAX = 2_000
/** Longest delay before a retry: exponential backoff is capped here at the latest. */
export const RETRY_DELAY_MS_MAX = 366 * 24 * 60 * 60 * 1000

/** Items that actors may run ahead of the last fsync (D9). */
export const RUN_AHEAD_ITEMS_MAX = 1_024
/** Bytes that actors may run ahead of the last fsync (D9). */
export const RUN_AHEAD_BYTES_MAX = 8 * 1024 * 1024
/** Characters of entries that steps of an atomic composite gather before the journal has them. */
export const GATHERED_LENGTH_MAX = 64 * 1024
/** Time the pump may hold the event loop before it yields (D9). */
export const PUMP_SLICE_MS = 10
/** Idle actors kept for the next runs of one definition. */
export const ACTORS_IDLE_MAX = 64
/** Microtasks that code which is about to end gets from the pump before the loop turns. */
export const PUMP_PATIENCE_TICKS = 8

/** Characters of one CEL expression, and of the pattern of `matches`. */
export const EXPRESSION_LENGTH_MAX = 4_096
export const EXPRESSION_PATTERN_LENGTH_MAX = 1_024
/** Nodes of one CEL syntax tree, and how deep they stand. */
export const EXPRESSION_NODES_MAX = 4_096
export const EXPRESSION_DEPTH_MAX = 128
/** Depth of brackets in one CEL expression, and of comprehensions in each other. */
export const EXPRESSION_BRACKETS_MAX = 100
export const EXPRESSION_LOOPS_MAX = 3
/** Steps of one evaluation: loop iterations, members of lists, text that is read, numbers. */
export const EXPRESSION_TICKS_MAX = 100_000
/** Length of a text, byte string or list that one operation of an expression builds. */
export const EXPRESSION_TEXT_LENGTH_MAX = 1_048_576
export const EXPRESSION_LIST_LENGTH_MAX = 100_000
/** Amounts in one result, digits of one number, and exponents of `pow` in CEL of workflows. */
export const EXPRESSION_AMOUNTS_MAX = 1_024
export const EXPRESSION_DIGITS_MAX = 16_384
export const EXPRESSION_EXPONENT_MAX = 10_000

/** Prepared expressions, parsed documents and other caches that can be thrown away. */
export const CACHE_ENTRIES_MAX = 1_024

/** Items of one page of a list, by default and at most (decision 0189). */
export const PAGE_ITEMS_DEFAULT = 50
export const PAGE_ITEMS_MAX = 200
/** Runs that the search for one page of them looks at; then the page ends early. */
export const RUNS_LOOKED_AT_MAX = 50_000
/** Entries of a run's journal that are read to count its receipts for a list. */
export const ENTRIES_COUNTED_MAX = 1_024

/** Commits that a reader of the feed may be behind; then it asks anew (decision 0192). */
export const FEED_COMMITS_BEHIND_MAX = 1_024
/** What is no history, such as texts of agents, and waits for one reader of the feed. */
export const FEED_NEWS_MAX = 1_024
/** Runs that one `changed` of the feed names, and commits that are read for it. */
export const FEED_CHANGED_RUNS_MAX = 256
export const FEED_CHANGED_COMMITS_MAX = 32
/** Longest time between two `changed` of the feed. */
export const FEED_PACE_MS_MAX = 60_000

/** Runs whose ids only hold what is looked for, in one answer of a search. */
export const FOUND_SIMILAR_MAX = 10

/** Runs whose pictures are kept, their entries together, and those between two kept whole. */
export const PICTURES_MAX = 16
export const PICTURE_ENTRIES_MAX = 65_536
export const PICTURE_ENTRIES_BETWEEN = 256

/** Pictures of stretches of long runs that stay in memory, and actors of a run that has some. */
export const KEPT_PICTURES_MAX = 64
export const PICTURE_ACTORS_MAX = 8_192

/**
 * How often an attempt whose requests are shown is executed anew with more of the state, and
 * commits behind it in which the next receipt is sought.
 */
export const CALLS_ROUNDS_MAX = 32
export const CALLS_COMMITS_MAX = 4_096

/** Choices of registered versions that are tried for a run whose journal names none (B10). */
export const PINS_TRIED_MAX = 256

/** Runs whose code is missing that `status()` names one by one. */
export const RESTING_RUNS_SHOWN_MAX = 20

/** Signatures being checked at once in the thread pool (performance.md A1). */
export const VERIFY_IN_FLIGHT_MAX = 64
/** Signatures that are checked without the thread pool: about a millisecond. */
export const VERIFY_AT_ONCE_MAX = 8
/** Threads that check the signatures of one verification, where there are as many cores. */
export const VERIFY_THREADS_MAX = 3
/** Signatures of one verification that are checked before it starts threads of its own. */
export const VERIFY_BEFORE_THREADS = 1_024
/** Signatures that such a thread gets at once: its answer is some milliseconds away. */
export const VERIFY_THREAD_BATCH = 64
/** How often a ledger that is being written is verified until two findings agree. */
export const VERIFY_ATTEMPTS_MAX = 5
/** Executions of each step in one verification: more find nothing that two do not. */
export const VERIFY_EXECUTIONS_MAX = 2
/** Time between two of these verifications. */
export const VERIFY_PAUSE_MS = 20
/** Journal of the run whose last receipt is done again when a ledger is opened (K10). */
export const BOOT_REPLAY_ENTRIES_MAX = 1_000
export const BOOT_REPLAY_BYTES_MAX = 4 * 1024 * 1024
/** How long opening waits for that receipt. */
export const BOOT_REPLAY_MS_MAX = 500
/** How long the command line waits for another command to let go of the ledger. */
export const LOCK_WAIT_MS = 10_000
/** How often it looks. */
export const LOCK_POLL_MS = 50
/** Bytes of a passphrase, a document's inputs, or another file that the command line reads. */
export const INPUT_BYTES_MAX = 4 * 1024 * 1024
/** How often a command follows a run to another service after its service went away. */
export const CLI_HANDOVERS_MAX = 8
/** Lines of a run's live progress on a terminal. */
export const CLI_LIVE_LINES_MAX = 12
/** Runs that `tally watch` keeps; of more, those that have ended leave first. */
export const WATCH_RUNS_MAX = 1_000
/** Running runs whose last step is looked up when a watch begins; others show it once they move. */
export const WATCH_STEPS_MAX = 64
/** How long a watch marks what has changed. */
export const WATCH_FRESH_MS = 10_000
/** How long work takes before a terminal has a bar of its progress. */
export const TERMINAL_PROGRESS_AFTER_MS = 300
/** Time between two pictures on a terminal, at least; ages are drawn anew after the second one. */
export const TERMINAL_FRAME_MS = 100
export const TERMINAL_AGE_MS = 1_000
/** Directories that are looked through for tally.config, from the working directory upwards. */
export const CONFIG_LEVELS_MAX = 64

/** Size of a key file. */
export const KEY_FILE_BYTES_MAX = 4_096
/** Identities of one location; its marker lists them in 67 bytes each. */
export const LOCATION_IDENTITIES_MAX = 20_000
/** UTF-16 units of the label with which an identity is made. */
export const IDENTITY_LABEL_LENGTH_MAX = 256
/** Identities that a process has open at one location, besides the main one, by default. */
export const IDENTITIES_OPEN_MAX = 1_000
/** How long an identity that has nothing to do and no holder stays open, by default. */
export const IDENTITY_IDLE_MS = 60_000
/** Identities that a location opens at once for due timers and interrupted runs. */
export const IDENTITIES_WAKING_MAX = 8
/** When an identity that could not be opened for its work is tried again. */
export const IDENTITY_WAKE_RETRY_MS = 5_000
/** Identities that are made at once. */
export const IDENTITIES_MAKING_MAX = 128

/** Size of a signed note of the log (formats.md §5). */
export const NOTE_BYTES_MAX = 64 * 1024
/** Signature lines of one note: the log's own and those of witnesses. */
export const NOTE_SIGNATURES_MAX = 100
/** Length of a note key name or origin in UTF-16 units. */
export const NOTE_NAME_LENGTH_MAX = 255
/** Text of one state, inclusion or consistency proof; the longest possible takes 80 kB. */
export const PROOF_BYTES_MAX = 128 * 1024

/** Items that one flush writes at most (L1). */
export const FLUSH_ITEMS_MAX = 1_024
/** Bytes that one flush writes at most, unless a single item is larger (L1). */
export const FLUSH_BYTES_MAX = 4 * 1024 * 1024
/** Items that are flushed without anybody waiting for them (D2). */
export const FLUSH_READY_ITEMS = 256
/** Bytes that are flushed without anybody waiting for them (D2). */
export const FLUSH_READY_BYTES = 1024 * 1024
/** A blob above this many bytes is a value of its own, not a line of a commit record. */
export const BLOB_IN_RECORD_BYTES_MAX = 64 * 1024
/** Durable state values kept in memory, and their UTF-16 units. */
export const STATE_CACHE_ENTRIES_MAX = 8_192
export const STATE_CACHE_LENGTH_MAX = 4 * 1024 * 1024
/** Keys that were ever written of which one page of a past state looks at no more. */
export const STATE_KEYS_LOOKED_AT_MAX = 4_096
/** How often values of the state are read again that a run has changed while they were read. */
export const STATE_READS_AGAIN_MAX = 16
/** Receipts, commits, runs, or characters of checkpoints or pictures after which derived records are written (L1). */
export const DERIVE_RECEIPTS = 4_096
export const DERIVE_COMMITS = 1_024
export const DERIVE_RUNS = 1_024
export const DERIVE_CHECKPOINT_BYTES = 4 * 1024 * 1024
export const DERIVE_PICTURE_BYTES = 1024 * 1024
/** Changed state keys after which the pages of the state tree are written (L1). */
export const DERIVE_PAGE_KEYS = 16_384

/** A snapshot before it is packed (formats.md §8). */
export const SNAPSHOT_BYTES_MAX = 64 * 1024 * 1024 * 1024
/** One line of a snapshot: a commit record, a state entry or a body. */
export const SNAPSHOT_LINE_BYTES_MAX = 128 * 1024 * 1024
/** Commit records of one archive; what is beyond stands in the next one. */
export const ARCHIVE_RECORD_BYTES_MAX = 16 * 1024 * 1024 * 1024
/** How often a runtime looks for history that has come of age, and when for the first time. */
export const ARCHIVE_EVERY_MS = 86_400_000
export const ARCHIVE_FIRST_LOOK_MS = 60_000
/** Commit records that are removed in one batch, once an archive has them. */
export const ARCHIVE_REMOVED_AT_ONCE = 256
/** Header or footer of a snapshot. */
export const SNAPSHOT_HEADER_BYTES_MAX = 1024 * 1024

/** One request on the owner socket (L11). */
export const OWNER_REQUEST_BYTES_MAX = 4 * 1024 * 1024
/** One result or event on the owner socket. */
export const OWNER_RESPONSE_BYTES_MAX = 32 * 1024 * 1024
/** Clients that the owner serves at once. */
export const OWNER_CONNECTIONS_MAX = 64
/** Requests of one client that are under way at once. */
export const OWNER_REQUESTS_MAX = 64
/** Events of one stream that are sent before the client asks for more. */
export const OWNER_EVENTS_AHEAD_MAX = 256
/** Length of a method name on the owner socket, and of names that errors of the service show. */
export const OWNER_METHOD_LENGTH_MAX = 128
/** Bytes of a Unix socket's path; the system cuts longer ones without an error. */
export const SOCKET_PATH_BYTES_MAX = 107
/** How long opening waits until the process that holds the ledger has handed it over. */
export const HAND_OVER_MS = 10_000
/** How long a process that is asked for its ledger may answer what is under way. */
export const HAND_OVER_NOTICE_MS = 2_000
/** How often the process that waits for a ledger asks for it. */
export const HAND_OVER_POLL_MS = 20
/** How long a client waits for a process that holds the ledger and answers. */
export const CLIENT_WAIT_MS = 30_000
/** How often it looks for one. */
export const CLIENT_POLL_MS = 25
/** How often a client asks again what an owner left without an answer. */
export const CLIENT_REPEATS_MAX = 16
/** Requests of one client under way at once; others wait for their turn. */
export const CLIENT_REQUESTS_MAX = 48
/** Milliseconds after which the mark of a process that opens a ledger counts as left behind. */
export const OPENING_MARK_MS = 30_000
/** Bytes of the owner file of a location (L13). */
export const OWNER_FILE_BYTES_MAX = 1_024
/** Length of the command that an owner file says of its process, for people. */
export const OWNER_COMMAND_LENGTH_MAX = 128
/** Time within which an owner that accepted a connection has to name its ledger. */
export const OWNER_GREETING_MS = 5_000

/** Ticks of gas of one execution of a package: 200,000 steps of the metered engine each. */
export const SANDBOX_GAS_TICKS = 5_000
/** Ticks of gas and microtasks that loading a package's module may take. */
export const SANDBOX_LOAD_GAS_TICKS = 1_000
export const SANDBOX_LOAD_MICROTASKS = 10_000
/** Calls of the scoped API in one execution. */
export const SANDBOX_HOST_CALLS_MAX = 10_000
/** UTF-8 bytes that cross between a package and the host in one execution. */
export const SANDBOX_HOST_BYTES_MAX = 2 * 1024 * 1024
/** Microtasks of one execution of a package. */
export const SANDBOX_MICROTASKS_MAX = 100_000
/** Wall-clock time after which a package's thread is ended: an incident, and no outcome of it. */
export const SANDBOX_WALL_MS = 600_000
/** Threads that run packages, and loaded packages that each keeps ready. */
export const SANDBOX_THREADS = 2
export const SANDBOX_IMAGES_MAX = 32
/** Memory that the loaded packages of one thread may take together. */
export const SANDBOX_IMAGE_BYTES_MAX = 64 * 1024 * 1024
/** Executions that wait for a thread. */
export const SANDBOX_QUEUE_MAX = 10_000
/** Text of a package's module, and of its manifest. */
export const PACKAGE_BUNDLE_BYTES_MAX = 4 * 1024 * 1024
export const PACKAGE_MANIFEST_BYTES_MAX = 256 * 1024
/** Intents, capabilities or capability schemas of one manifest. */
export const MANIFEST_ENTRIES_MAX = 256
/** Files of one package directory that a bundle may be made of. */
export const PACKAGE_FILES_MAX = 1_000
/** Entries of a directory that is bundled, those below included. */
export const PACKAGE_DIRECTORY_ENTRIES_MAX = 100_000

/** Length of a contact's name in UTF-16 units, and of the text of a message. */
export const CONTACT_NAME_LENGTH_MAX = 100
export const MESSAGE_TEXT_LENGTH_MAX = 10_000
/** Contacts or messages that one call of the scoped API gives or takes. */
export const CONTACTS_LISTED_MAX = 1_000
export const MESSAGES_LISTED_MAX = 1_000
/** Length of a URL that a package asks for, and of the value of one header. */
export const NETWORK_URL_LENGTH_MAX = 2_048
export const NETWORK_HEADER_LENGTH_MAX = 8_192
/** Headers of one request of a package; hosts that a manifest may name. */
export const NETWORK_HEADERS_MAX = 32
export const NETWORK_HOSTS_MAX = 64
/** Body of a request that a package sends, and of the response it may get. */
export const NETWORK_REQUEST_BYTES_MAX = 256 * 1024
export const NETWORK_RESPONSE_BYTES_MAX = 1024 * 1024
/** Time that a request of a package may take, redirects included. */
export const NETWORK_TIMEOUT_MS = 10_000
/** Redirects that are followed, and addresses of one host that are looked at. */
export const NETWORK_REDIRECTS_MAX = 5
export const NETWORK_ADDRESSES_MAX = 32
/** Size of a file that a secret is read from. */
export const SECRET_BYTES_MAX = 64 * 1024
/** Length of a secret in UTF-16 units; shorter ones are not looked for, chance would find them. */
export const SECRET_LENGTH_MIN = 8
/** Secrets that a redactor knows at once; of more, those that were read longest ago are dropped. */
export const SECRETS_KNOWN_MAX = 1_024
/** Levels of percent-encoding and of JSON's escapes under which a secret is looked for. */
export const SECRET_LEVELS_MAX = 4
/** Readings of one text, with these undone in different orders. */
export const SECRET_VIEWS_MAX = 16

/** Times that a package is run anew after its thread was terminated or failed. */
export const SANDBOX_FAULTS_MAX = 1
/** Executions of a package for one intent: each batch of answered calls takes another one. */
export const SANDBOX_ROUNDS_MAX = 1_000
/** Ticks of gas of all of them. */
export const SANDBOX_ROUNDS_GAS_TICKS = 20_000
/** UTF-16 units of an intent's action or provider, and of the words from which it was made. */
export const ACTION_LENGTH_MAX = 128
export const RAW_INTENT_LENGTH_MAX = 16_384

/** Executions of a workflow node that polls, and answers that one takes until it lacks nothing. */
export const POLL_ATTEMPTS_MAX = 3_000
export const MISSING_ROUNDS_MAX = 100
/** Patches that one answer may bring to a running workflow. */
export const RUNTIME_PATCHES_MAX = 256
/** Message or label that foreign code has thrown, as a journal keeps it, in UTF-16 units. */
export const THROWN_TEXT_LENGTH_MAX = 1_000
/** Length of a text of an exception that is kept for people. */
export const EXCEPTION_TEXT_LENGTH_MAX = 4_096
/** Length of a text of an exception in which secrets are looked for; the rest is dropped. */
export const EXCEPTION_LENGTH_READ_MAX = 65_536
/** Lines of the stack of an exception that are kept. */
export const EXCEPTION_FRAMES_MAX = 24
/** Causes of causes of an exception that are kept. */
export const EXCEPTION_CAUSES_MAX = 4
/** Bytes of exceptions of a ledger after which the older half is dropped with the next. */
export const EXCEPTION_LOG_BYTES_MAX = 2_097_152
/** Exceptions of one run that are shown, the last ones. */
export const EXCEPTIONS_SHOWN_MAX = 100
/** Text of one field of a diagnostic, in UTF-16 units. */
export const DIAGNOSTIC_TEXT_LENGTH_MAX = 1_000
/** Members of one list or object of a diagnostic. */
export const DIAGNOSTIC_LIST_LENGTH_MAX = 64

/** Bytes of one answer over HTTP or a pipe that a turn reads. */
export const TURN_RESPONSE_BYTES_MAX = 32 * 1024 * 1024
/** Bytes of one event of a model's stream: its library parses each in one call. */
export const MODEL_EVENT_BYTES_MAX = 1024 * 1024
/** Values of one event of a model's stream, for the same reason: lists, objects and commas. */
export const MODEL_EVENT_VALUES_MAX = 10_000
/** Bytes that are read of an answer by which a model's server refuses a turn. */
export const MODEL_REFUSAL_BYTES_MAX = 64 * 1024
/** UTF-16 units of one message of pi or of an MCP server or client, which is one line. */
export const AGENT_MESSAGE_LENGTH_MAX = 4 * 1024 * 1024
/** Values of one message of an MCP server or client: its library looks at all in one call. */
export const MCP_MESSAGE_VALUES_MAX = 50_000
/** UTF-16 units of text, reasoning and tool arguments of one answer. */
export const TURN_TEXT_LENGTH_MAX = 4 * 1024 * 1024
/** Time within which an agent's backend opens, finds or ends a session. */
export const AGENT_OPEN_MS = 30_000
/** Time that an agent's process or session has to end by itself. */
export const AGENT_STOP_MS = 2_000
/** Sessions kept open at once; beyond it, the one that was idle longest is let go. */
export const AGENT_SESSIONS_MAX = 256
/** Time that a tool of an MCP server may be silent. */
export const MCP_CALL_MS = 60_000
/** Pages of an MCP server's list of tools. */
export const MCP_PAGES_MAX = 64
/** Receipts that the resource of the ledger's receipts shows: the last ones. */
export const MCP_RECEIPTS_LISTED = 50

/** Text and list entries that a chain's failure may carry. */
export const CHAIN_TEXT_LENGTH_MAX = 512
export const CHAIN_LIST_LENGTH_MAX = 16
/** Looks at one transaction by one attempt, and by all attempts of a step. */
export const CHAIN_POLLS_MAX = 1_000
export const CHAIN_LOOKS_MAX = 4_000
/** Looks in a row that miss a transaction before its bytes are sent again. */
export const CHAIN_MISSING_LOOKS = 2
/** Looks in a row that must say a transaction cannot be included any more. */
export const CHAIN_DISPLACED_LOOKS = 3
/** Newest blocks that are looked through for the transaction in place of another. */
export const CHAIN_REPLACEMENT_BLOCKS = 16
/** Logs of one transaction that are kept, and the hex digits of one's data. */
export const CHAIN_LOGS_MAX = 64
export const CHAIN_LOG_DATA_LENGTH_MAX = 4_096
/** Contract calls of one execution. */
export const CHAIN_CALLS_MAX = 256
/** JSON-RPC calls to one chain under way at once (W11). */
export const CHAIN_CALLS_AT_ONCE = 8
/** One answer of an endpoint, and how long it may take. */
export const RPC_RESPONSE_BYTES_MAX = 16 * 1024 * 1024
export const RPC_TIMEOUT_MS = 10_000
/** How long `tally diagnose` asks chains about the transactions of a run. */
export const DIAGNOSE_CHAIN_MS = 5_000
/** How long a busy endpoint may ask to be left alone, and how often in one request. */
export const RPC_PAUSE_MS_MAX = 30_000
export const RPC_PAUSES_MAX = 3
/** Executions of a query of which a workflow says nothing of retries (W13). */
export const CHAIN_READ_ATTEMPTS_MAX = 4
/** How long a prepared transaction holds back the next one of its account before it is sent. */
export const NONCE_LEASE_MS = 30_000
/** Superseded transactions that are remembered for one account. */
export const NONCE_MEMORY_MAX = 10_000
/** Transactions of one step whose nonce others of ours took; of one attempt, that expired. */
export const CHAIN_PREPARES_MAX = 8
/**
 * Transactions that take the place of one, each more dear than the one before by so many percent.
 */
export const CHAIN_REPLACEMENTS_MAX = 8
export const CHAIN_RAISE_PERCENT_MIN = 10
export const CHAIN_RAISE_PERCENT_MAX = 1_000

/** Nodes, edges or agents of one flow document. */
export const FLOW_ENTRIES_MAX = 10_000
/** Time of one turn, when a flow does not say. */
export const AGENT_TURN_MS_DEFAULT = 60_000
/** Turns that one node takes at most, tool calls and corrections included. */
export const AGENT_NODE_TURNS_MAX = 64
/** Tool calls that are answered for one turn. */
export const AGENT_TOOL_CALLS_MAX = 64
/** Time that a refused turn waits at most because the other side asks for it. */
export const RETRY_AFTER_MS_MAX = 600_000
/** Times that an agent is asked to correct an answer of the wrong shape, by default. */
export const AGENT_OUTPUT_RETRIES_DEFAULT = 1
/** Visits of a plan loop, the planning visit included, when a flow does not say. */
export const PLAN_LOOP_VISITS_DEFAULT = 5
/** Files of a directory of prompt assets, and bytes of one of them. */
export const PROMPT_FILES_MAX = 1_000
export const PROMPT_FILE_BYTES_MAX = 256 * 1024
/** Files that a loader of a flow reads, and bytes of them together. */
export const LOADER_FILES_MAX = 256
export const LOADER_BYTES_MAX = 1024 * 1024
/** Entries of directories that one reading of files looks at, and levels of directories. */
export const FILE_ENTRIES_MAX = 10_000
export const FILE_LEVELS_MAX = 32
/** Length of a path as documents write it, in UTF-16 units. */
export const FILE_PATH_LENGTH_MAX = 1_024
/** Size of one ignore file, and steps of matching that one reading of files takes. */
export const IGNORE_FILE_BYTES_MAX = 64 * 1024
export const IGNORE_STEPS_MAX = 20_000_000

/** Actions that an AI provider gets when it resolves a text, and what it may answer. */
export const KNOWN_ACTIONS_MAX = 1_000
export const RESOLVED_PAYLOAD_LENGTH_MAX = 64 * 1024
/** Steps that the planner puts before an intent, and how many rest on each other. */
export const PLANNED_STEPS_MAX = 32

/** What one play of a machine under test may do by default: effects, receipts, bytes. */
export const MACHINE_EFFECTS_MAX = 1_000
export const MACHINE_STEPS_MAX = 1_000
export const MACHINE_STATE_BYTES_MAX = 1024 * 1024
export const MACHINE_JOURNAL_BYTES_MAX = 4 * 1024 * 1024
/** Cases of one verification of a machine, by default, and plays in search of a smaller one. */
export const MACHINE_CASES_DEFAULT = 100
export const MACHINE_SHRINKS_MAX = 120
/** How long a driver has for one check of a conformance suite when the caller does not say. */
export const CONFORMANCE_MS_DEFAULT = 30_000
/** Bytes of what an anchor gives as evidence of a note that it keeps, as canonical JSON. */
export const ANCHOR_EVIDENCE_BYTES_MAX = 16 * 1024
/** Bytes of a file with a recorded run. */
export const RECORDING_BYTES_MAX = 64 * 1024 * 1024
/** Events of one simulation, and configurations that the check of one history looks at. */
export const SIMULATION_EVENTS_MAX = 100_000
export const LINEAR_CONFIGURATIONS_MAX = 100_000
/** Findings about one block, and bytes that a child process of the detectors may answer. */
export const DETECTED_FINDINGS_MAX = 100
export const DETECTED_OUTPUT_BYTES_MAX = 16 * 1024 * 1024
/** What is kept of the errors that such a process writes, in characters. */
export const DETECTED_ERROR_LENGTH_MAX = 2_000
/** Time for such a process to start, and by default for its work on one block. */
export const DETECTION_START_MS = 60_000
export const DETECTION_MS_DEFAULT = 10_000
