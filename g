# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE
# source_sent_id = . . a
# text = a b c
1	a	a	X	_	_	0	_	_	_	1:VID
2	b	b	X	_	_	0	_	_	_	1
3	c	c	X	_	_	0	_	_	_	2:Vid

