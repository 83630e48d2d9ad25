"""How a process of this server ends, for whoever looks after it."""

#: It does not start on tables of another revision: there is no use in starting it again at once. As sysexits.h has it
#: for what is configured wrongly.
OTHER_REVISION = 78
